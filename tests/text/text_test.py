"""Runs lit on the .hlo files beside it, with `armillary` and LLVM's FileCheck on the path."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = """#!/bin/sh
exec {python} -c 'import sys; sys.argv[0] = "armillary"; from armillary.cli import main; main()' "$@"
"""


def make_path(folder: Path) -> str:
    """A folder with the command as this build has it, before LLVM's tools and the system's."""
    command = folder / "armillary"
    command.write_text(COMMAND.format(python=sys.executable))
    command.chmod(0o755)
    return os.pathsep.join(
        [str(folder), str(Path(os.environ["FILECHECK"]).resolve().parent), "/usr/bin", "/bin"]
    )


def main() -> int:
    out = Path(os.environ.get("TEST_TMPDIR", "."), "text")
    out.mkdir(exist_ok=True)
    env = {
        **os.environ,
        "PATH": make_path(out),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TEXT_TESTS_OUT": str(out),
    }
    options = ["-v", "--order=lexical"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        options.append(f"--xunit-xml-output={report}")
    return subprocess.run(["lit", *options, "tests/text"], env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
