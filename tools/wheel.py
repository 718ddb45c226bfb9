"""Packs the Python package and its extension into a wheel, with the shared libraries others may lack."""

import argparse
import base64
import hashlib
import re
import subprocess
import tempfile
import tomllib
import zipfile
from pathlib import Path

# Libraries that a manylinux system promises to have; any other that the extension needs is packed along.
PROMISED = re.compile(r"(linux-vdso|ld-linux.*|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z))\.so\b.*")
LINE = re.compile(r"^\s*(\S+) => (\S+)", re.MULTILINE)


def foreign_libraries(extension: Path) -> list[Path]:
    """Shared libraries that the extension loads and that PROMISED does not cover."""
    listing = subprocess.run(["ldd", extension], capture_output=True, text=True, check=True).stdout
    found = [(name, Path(path)) for name, path in LINE.findall(listing) if not PROMISED.fullmatch(name)]
    if llvm := [name for name, _ in found if "LLVM" in name]:
        raise SystemExit(f"{extension} must hold LLVM inside, but loads {llvm[0]}")
    return [path for _, path in found]


def stripped(library: Path) -> bytes:
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", "--strip-unneeded", "-o", copy.name, library], check=True)
        return Path(copy.name).read_bytes()


def metadata(project: dict, version: str, readme: str) -> str:
    """METADATA as of core metadata 2.4."""
    head = {
        "Metadata-Version": "2.4",
        "Name": project["name"],
        "Version": version,
        "Summary": project["description"],
        "License-Expression": project["license"],
        "License-File": "LICENSE",
        "Requires-Python": project["requires-python"],
    }
    lines = [f"{key}: {value}" for key, value in head.items()]
    lines += [f"Requires-Dist: {requirement}" for requirement in project["dependencies"]]
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def entry_points(project: dict) -> str:
    groups = {"console_scripts": project.get("scripts", {}), **project.get("entry-points", {})}
    return "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in groups.items()
    )


def package_path(file: Path) -> str:
    """Where a file of the source or output tree lies in the wheel: below its last folder "python"."""
    parts = file.parts
    return "/".join(parts[len(parts) - parts[::-1].index("python") :])


def record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def write_wheel(out: Path, contents: dict[str, bytes], record: str) -> None:
    """A zip with fixed dates, so that the same files give the same wheel."""
    lines = [record_line(name, content) for name, content in contents.items()] + [f"{record},,"]
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in {**contents, record: "\n".join([*lines, ""]).encode()}.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            wheel.writestr(entry, content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, help="<name>-<version>-<python>-<abi>-<platform>.whl"
    )
    for name in ("project", "readme", "license"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="+", help="files below a folder 'python'")
    options = parser.parse_args()

    name, version, tag = options.out.stem.split("-", 2)
    project = tomllib.loads(options.project.read_text())["project"]
    contents = {package_path(file): file.read_bytes() for file in sorted(options.files, key=package_path)}
    for extension in (file for file in options.files if file.suffix == ".so"):
        beside = package_path(extension.parent)
        contents |= {
            f"{beside}/{library.name}": stripped(library) for library in foreign_libraries(extension)
        }
    info = f"{name}-{version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: armillary\nRoot-Is-Purelib: false\nTag: {tag}\n"
    contents |= {
        f"{info}/METADATA": metadata(project, version, options.readme.read_text()).encode(),
        f"{info}/WHEEL": wheel.encode(),
        f"{info}/entry_points.txt": entry_points(project).encode(),
        f"{info}/licenses/LICENSE": options.license.read_bytes(),
    }
    write_wheel(options.out, contents, f"{info}/RECORD")


if __name__ == "__main__":
    main()
