#!/bin/bash
# Formats C++ and Python files in place; without arguments, those that differ from the last commit.
set -euo pipefail
ruff=$(dirname "$0")/../.venv/bin/ruff

if (($#)); then files=("$@"); else mapfile -t files < <(git diff --name-only --diff-filter=d --relative HEAD); fi
for file in "${files[@]}"; do
  case "$file" in
    *.cc | *.h) clang-format-22 -i "$file" ;;
    *.py) "$ruff" check --quiet --fix "$file" && "$ruff" format --quiet "$file" ;;
  esac
done
