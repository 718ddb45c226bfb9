"""The working tree behind a test's runfiles, and the files in it that the repository tracks."""

import subprocess
from functools import cache
from pathlib import Path


@cache
def root() -> Path:
    """Top of the source tree: the README in the runfiles is a link to the one there."""
    return Path("README.md").resolve().parent


@cache
def tracked() -> tuple[Path, ...]:
    """Every file the repository tracks and that still exists, relative to the top."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={root()}", "ls-files", "-z"],
        cwd=root(),
        capture_output=True,
        text=True,
    )
    if listing.returncode == 0 and listing.stdout:
        names = [Path(name) for name in listing.stdout.split("\0") if name]
    else:  # an unpacked archive
        names = [path.relative_to(root()) for path in root().rglob("*") if not _is_output(path)]
    return tuple(sorted(name for name in names if (root() / name).is_file()))


def _is_output(path: Path) -> bool:
    parts = path.relative_to(root()).parts
    return parts[0].startswith(("bazel-", ".venv", ".git")) or "__pycache__" in parts


def with_suffix(*suffixes: str) -> list[Path]:
    """Tracked files whose names end so."""
    return [name for name in tracked() if name.suffix in suffixes]


def read(name: Path) -> str:
    return (root() / name).read_text(encoding="utf-8", errors="replace")
