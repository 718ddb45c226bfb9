#!/bin/bash
# Makes a virtual environment that holds exactly the packages of a lock file, unless it is there already.
# usage: python_env.sh PYTHON LOCK DIR     (safe to run twice at once; DIR appears complete or not at all)
set -euo pipefail

python=$1 lock=$2 dir=$3
stamp="$dir/.armillary-lock"

is_current() { [[ -x "$dir/bin/python" ]] && cmp -s "$lock" "$stamp"; }

is_current && exit 0
mkdir -p "$(dirname "$dir")"
exec 9>"$dir.busy"
flock 9
is_current && exit 0

rm -rf "$dir"
"$python" -m venv "$dir"
"$dir/bin/python" -m pip install -qq --disable-pip-version-check --no-deps --no-compile --require-hashes \
  --only-binary :all: -r "$lock"
"$dir/bin/python" -m compileall -q -j 0 "$dir/lib" >/dev/null 2>&1 || true  # some packages ship broken samples
cp "$lock" "$stamp"
