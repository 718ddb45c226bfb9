"""The repository is text that means the same everywhere: no local paths, no registry hosts, nothing huge."""

import re

import pytest

from tests.house import tree

LARGEST_BYTES = 1 << 20
# Written in pieces, so that this file passes its own test.
LOCAL_PATH = re.compile(
    "(?<![\\w.])/(?:" + "|".join(["ro" + "ot", "ho" + "me", "wo" + "rk", "Us" + "ers"]) + ")/\\w"
)
REGISTRY = re.compile(
    "|".join(
        [
            r"pypi\.(?:" + "org|io)",
            r"python" + r"hosted\.org",
            r"registry\.npm" + r"js\.org",
            r"(?:^|[^\w.])crates\." + "io",
            r"proxy\.golang\." + "org",
            r"deb\.debian\." + "org",
            r"apt\.llvm\." + "org",
        ]
    )
)


def is_binary(name: object) -> bool:
    return b"\0" in (tree.root() / str(name)).read_bytes()[:8192]


@pytest.mark.parametrize(
    ("what", "pattern"), [("a path of one machine", LOCAL_PATH), ("a registry host", REGISTRY)]
)
def test_no_file_names(what: str, pattern: re.Pattern[str]) -> None:
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name in tree.tracked()
        for number, line in enumerate(tree.read(name).splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, f"{what} in:\n" + "\n".join(found)


def test_no_file_is_large() -> None:
    large = [str(name) for name in tree.tracked() if (tree.root() / name).stat().st_size > LARGEST_BYTES]
    assert not large, f"over 1 MB: {large}"


def test_no_file_is_binary() -> None:
    binary = [str(name) for name in tree.tracked() if is_binary(name)]
    assert not binary, f"binary files: {binary}"
