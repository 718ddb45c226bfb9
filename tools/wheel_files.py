"""Takes a few files out of a wheel on the package index without downloading the rest of it.

usage: wheel_files.py REQUIREMENT OUT MEMBER=SHA256 ...      for example: wheel_files.py numpy==2.4.6 out numpy/a.h=0123...

A wheel is a zip file and its directory stands at the end, so that two or three requests for byte ranges are enough.
An index that cannot serve ranges costs the download of the whole wheel, once.
"""

import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

# One build of the wheel, whatever this interpreter is: the files are the same in all of them.
TARGET = ["--python-version=3.11", "--implementation=cp", "--abi=cp311", "--platform=manylinux_2_27_x86_64"]
DOWNLOAD = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", *TARGET]


def read_ranges(requirement: str, members: list[str]) -> dict[str, bytes]:
    """Through pip's own lazy reader, which is internal to pip and may change."""
    from pip._internal.cli.cmdoptions import make_target_python
    from pip._internal.commands import create_command
    from pip._internal.network.lazy_wheel import LazyZipOverHTTP
    from pip._vendor.packaging.requirements import Requirement

    command: Any = create_command("download")
    options, _ = command.parse_args([*DOWNLOAD, requirement])
    wanted = Requirement(requirement)
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(options, session, target_python=make_target_python(options))
        found = finder.find_best_candidate(wanted.name, wanted.specifier).best_candidate
        with zipfile.ZipFile(LazyZipOverHTTP(found.link.url_without_fragment, session)) as wheel:
            return {member: wheel.read(member) for member in members}


def read_whole(requirement: str, members: list[str]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", *DOWNLOAD, f"--dest={folder}", requirement], check=True
        )
        (path,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as wheel:
            return {member: wheel.read(member) for member in members}


def read_members(requirement: str, members: list[str]) -> dict[str, bytes]:
    try:
        return read_ranges(requirement, members)
    except Exception as error:
        print(f"{requirement}: no ranges ({error!r}), taking the whole wheel", file=sys.stderr)
        return read_whole(requirement, members)


def main() -> None:
    requirement, out, *wanted = sys.argv[1:]
    hashes = dict(entry.split("=") for entry in wanted)
    missing = [
        member
        for member, digest in hashes.items()
        if not (path := Path(out, member)).exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest
    ]
    for member, content in read_members(requirement, missing).items() if missing else []:
        digest = hashlib.sha256(content).hexdigest()
        if digest != hashes[member]:
            raise SystemExit(f"{requirement}: {member} has the hash {digest}, not {hashes[member]}")
        path = Path(out, member)
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{digest[:8]}")
        partial.write_bytes(content)
        partial.replace(path)


if __name__ == "__main__":
    main()
