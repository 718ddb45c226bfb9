#!/bin/bash
# Installs what the build needs: Debian 12 packages, then a .venv for people. Safe to run again; silent work is cheap work.
# usage: tools/setup.sh [--no-venv]
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  bazel-bootstrap bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib
  g++ git llvm-22-dev llvm-22-tools lld-22 clang-format-22
  libbenchmark-dev libfmt-dev libgtest-dev libprotobuf-dev libzstd-dev nlohmann-json3-dev protobuf-compiler zlib1g-dev
  python-is-python3  # Bazel 4 starts its Python programs as "python"
  chromium  # draws the page of a simulation in tests/sim, which is skipped without it; half a minute and 350 MB
)
# Debian splits its own python3 into parts; one that lies elsewhere comes whole.
case "$(readlink -f "$(command -v python3 || echo /usr/bin/python3)")" in
  /usr/bin/*) packages+=(python3 python3-dev python3-venv) ;;
esac

as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }
quit() { echo "setup: $*" >&2; exit 1; }

have=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^installed //p' || true)
missing=()
for package in "${packages[@]}"; do grep -qx "$package" <<<"$have" || missing+=("$package"); done

if ((${#missing[@]})); then
  echo "setup: installing Debian packages: ${missing[*]}"
  as_root apt-get update -qq || echo "setup: apt-get update failed; going on with the lists at hand" >&2
  for package in "${missing[@]}"; do
    [[ -n $(apt-cache madison "$package") ]] ||
      quit "apt offers no package '$package'; add the repository that carries it for Debian 12, then run this again."
  done
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    quit "apt-get could not install the packages above."
else
  echo "setup: all ${#packages[@]} Debian packages are installed"
fi

if [[ ${1:-} == --no-venv ]]; then
  echo "setup: .venv left out; Bazel keeps its own copy of the locked Python packages"
elif cmp -s tools/requirements.lock .venv/.armillary-lock; then
  echo "setup: .venv is up to date"
else
  echo "setup: making .venv with the $(grep -c == tools/requirements.lock) packages of tools/requirements.lock"
  tools/python_env.sh "$(command -v python3)" tools/requirements.lock .venv
fi
