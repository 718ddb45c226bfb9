"""The table of known gaps, as tools/jax_conformance reads it."""

import pytest

from tools.jax_conformance import run

TABLE = """
| file | tests | XLA:CPU | why |
|---|---|---|---|
| api_test | `JitTest.test_a`, `test_{b,c}_{x,y}*` | passes | a reason |
| nn_test | `test_d` | fails | not ours |
"""


@pytest.mark.parametrize(
    ("file", "test", "reason"),
    [
        ("api_test", "tests/api_test.py::JitTest::test_a", "a reason"),
        ("api_test", "tests/api_test.py::OtherTest::test_a", None),
        ("api_test", "tests/api_test.py::OtherTest::test_c_x", "a reason"),
        ("api_test", "tests/api_test.py::OtherTest::test_b_y7", "a reason"),
        ("api_test", "tests/api_test.py::OtherTest::test_b_z", None),
        ("nn_test", "tests/nn_test.py::NNTest::test_d", "not ours"),
        ("nn_test", "tests/nn_test.py::NNTest::test_d0", None),
        ("nn_test", "tests/nn_test.py::NNTest::test_a", None),
    ],
)
def test_a_row_names_its_tests(file: str, test: str, reason: str | None) -> None:
    assert run.why_known(run.known_gaps(TABLE), file, test) == reason


def test_every_row_of_the_table_is_read() -> None:
    text = run.KNOWN.read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ") and "_test |" in line]
    files = {row.strip("| ").split(" ")[0] for row in rows}
    assert rows and set(run.known_gaps(text)) == files
