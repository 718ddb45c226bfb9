#!/bin/bash
# Rewrites tools/requirements.lock from requirements.in: exact versions, with the hash of every file (needs a network).
# usage: tools/lock.sh [UV OPTION ...]     for example: tools/lock.sh --upgrade-package numpy
set -euo pipefail
cd "$(dirname "$0")"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp requirements.lock "$out/requirements.lock" 2>/dev/null || true
python3 -m pip install --quiet --target "$out/uv" uv
"$out/uv/bin/uv" pip compile --quiet --python python3 --generate-hashes --no-header --no-annotate --no-emit-index-url \
  "$@" requirements.in --output-file "$out/requirements.lock"
{
  echo "# Every Python package of the build and the tests, exact. Made by tools/lock.sh from requirements.in."
  grep -v '^#' "$out/requirements.lock"
} >requirements.lock
