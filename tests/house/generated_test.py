"""Generated files are what their generator would write now."""

import pytest

from tests.house import tree
from tools.docs import generate


@pytest.mark.parametrize("name", list(generate.PAGES))
def test_file_is_up_to_date(name: str) -> None:
    file = tree.root() / name
    current = file.read_text() if file.exists() else ""
    assert current == generate.PAGES[name](), "run: bazel run //tools/docs:generate"
