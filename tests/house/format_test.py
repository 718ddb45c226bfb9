"""ruff, mypy and clang-format have nothing to say."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import tree


def run(*command: str | Path) -> None:
    result = subprocess.run([str(part) for part in command], cwd=tree.root(), capture_output=True, text=True)
    assert result.returncode == 0, (result.stdout + result.stderr)[-8000:]


def tool(module: str) -> list[str]:
    return [sys.executable, "-m", module]


def test_ruff_check() -> None:
    run(*tool("ruff"), "check", "--no-cache", *tree.with_suffix(".py"))


def test_ruff_format() -> None:
    run(*tool("ruff"), "format", "--no-cache", "--check", "--diff", *tree.with_suffix(".py"))


def test_mypy(tmp_path: Path) -> None:
    files = [name for name in tree.with_suffix(".py") if name.parts[:2] == ("python", "armillary")]
    if not files:
        pytest.skip("no Python package yet")
    run(*tool("mypy"), "--cache-dir", tmp_path, *files)


def test_clang_format() -> None:
    clang_format = shutil.which("clang-format-22")
    if not clang_format:
        pytest.skip("clang-format-22 is not installed; tools/setup.sh installs it")
    files = [str(name) for name in tree.with_suffix(".cc", ".h")]
    command = [clang_format, "--dry-run", "-Werror", *files]
    report = subprocess.run(command, cwd=tree.root(), capture_output=True, text=True).stderr
    wrong = sorted({line.split(":")[0] for line in report.splitlines() if ": error:" in line})
    assert not wrong, "run: tools/format.sh " + " ".join(wrong)
