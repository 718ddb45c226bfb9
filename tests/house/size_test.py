"""Reports long files and functions. It warns, never fails: a long table of rows is fine, people decide."""

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from tests.house import tree

FILE_LINES, FUNCTION_LINES = 400, 40

# A formatted C++ function: a line that ends in ") ... {" and starts no statement, type or member initialiser.
HEAD = re.compile(
    r"^(?P<indent> *)"
    r"(?!(?:if|for|while|switch|else|do|try|catch|return|namespace|class|struct|enum|union|extern)\b|\w+_[({])"
    r"[\w~:<\[].*\)[\w\s:&>*<,-]*\{$"
)


def cc_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """(head, first line, length) of each function in clang-formatted C++."""
    lines = text.splitlines()
    for start, line in enumerate(lines):
        if head := HEAD.match(line):
            close = head["indent"] + "}"
            end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith(close)), start)
            yield line.strip(), start + 1, end - start + 1


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def long_functions(name: Path, text: str) -> list[str]:
    functions = python_functions(text) if name.suffix == ".py" else cc_functions(text)
    return [
        f"{name}:{line}: {length} lines: {head[:80]}"
        for head, line, length in functions
        if length > FUNCTION_LINES
    ]


def test_size_report() -> None:
    report = []
    for name in tree.with_suffix(".cc", ".h", ".py"):
        text = tree.read(name)
        if (lines := text.count("\n")) > FILE_LINES:
            report.append(f"{name}: {lines} lines")
        report += long_functions(name, text)
    for line in report:
        warnings.warn(line, stacklevel=1)


def test_a_long_function_is_seen() -> None:
    body = "".join(f"  step({i});\n" for i in range(50))
    assert long_functions(Path("x.cc"), f"int f(int x) {{\n{body}}}\n")
    assert not long_functions(Path("x.cc"), "int f(int x) {\n  return x;\n}\n")
