"""Writes the reference pages and the extension's type stub from the compiled core, so that they cannot lie.

usage: bazel run //tools/docs:generate     (tests/house/generated_test.py compares the files with this output)
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from armillary import _core

ERRORS = ["Error", "UserError", "UnsupportedError", "ResourceError", "InternalError"]
# What pybind11-stubgen cannot know: the errors are made in the core though they call themselves armillary's,
# == takes anything, and a class may be named before it is bound.
STUB_CORRECTIONS = [
    (r"from armillary import \w+\n", ""),
    (r"(def __eq__\(self, arg0: )\w+", r"\1object"),
    (r"(def computation\(self\) -> )\.\.\.", r"\1Computation"),
    (r"    @staticmethod\n    def __new__\(.*\n(        .*\n)+", ""),  # only refuses
]
NOTE = "<!-- Written by tools/docs/generate.py; change the table in the sources instead. -->\n"


def markdown_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table; what would break a cell is escaped."""
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |\n" for line in lines
    )


def code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def ops_page() -> str:
    """Every op: what it means, how that meaning is written, and whether it runs."""
    ops = _core.list_ops()
    idle = [op for op in ops if not op["runs"]]
    rows = [
        [
            code(op["name"]),
            code(op["stablehlo"]),
            "any" if op["arity"] < 0 else op["arity"],
            " ".join([*map(code, op["attributes"]), *(f"[{code(attr)}]" for attr in op["optional"])]),
            op["meaning"],
            op["doc"],
        ]
        for op in ops
    ]
    return (
        f"# Ops\n\n{NOTE}\n{len(ops)} ops. *Meaning* says how the row of the op table defines it: a `scalar` recipe, an"
        " `index` recipe, the\n`factors` of a contraction, an `expand` into other ops, or a `special` handler.\nAttributes in brackets may be left out.\n\n"
        + markdown_table(["op", "StableHLO", "operands", "attributes", "meaning", "what it does"], rows)
        + f"\n## What cannot run yet\n\nThese {len(idle)} parse, print and verify, and report `unsupported` with their"
        " place when they must run.\n\n" + ", ".join(code(op["name"]) for op in idle) + "\n"
    )


def passes_page() -> str:
    passes = _core.list_passes()
    return (
        f"# Passes\n\n{NOTE}\n`armillary opt FILE --passes=NAME,NAME` runs them; `fixpoint(a,b)` repeats its list until"
        " nothing changes.\n`--xla_disable_hlo_passes=NAME,NAME` in `XLA_FLAGS`, or `xla_disable_hlo_passes` among a program's"
        " `compiler_options`, leaves passes out, but\nthose without which no program would run, or run right.\n\n"
        + markdown_table(
            ["pass", "what it does"],
            [[code(row["name"]), row["doc"] + " Always runs." * row["needed"]] for row in passes],
        )
    )


def flags_page() -> str:
    rows = [
        [code(flag["name"]), flag["type"], flag["values"], code(flag["default"]), flag["doc"]]
        for flag in _core.list_flags()
    ]
    return (
        f"# Flags\n\n{NOTE}\nSet them in `ARMILLARY_FLAGS` (`threads=4,verify_each=true`), or from Python. Of `XLA_FLAGS`"
        " we read the dump switches,\n`--xla_disable_hlo_passes` and `--xla_force_host_platform_device_count`.\n\n"
        + markdown_table(["flag", "type", "values", "default", "what it does"], rows)
    )


def stub() -> str:
    """The types of armillary._core, as pybind11-stubgen sees them."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "pybind11_stubgen", "armillary._core", "--output-dir", out]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        result = subprocess.run(command, env=env, capture_output=True, text=True)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        text = Path(out, "armillary", "_core.pyi").read_text()
    for pattern, instead in STUB_CORRECTIONS:
        text = re.sub(pattern, instead, text)
    return text + "".join(map(error_class, ERRORS))


def error_class(name: str) -> str:
    """An exception as the stub should define it: its class says it is armillary's, though it is made in the core."""
    error = getattr(_core, name)
    bases = ", ".join(base.__name__ for base in error.__bases__)
    fields = "    kind: str\n    where: str\n    message: str\n" if name == "Error" else ""
    return f'class {name}({bases}):\n    """\n    {error.__doc__}\n    """\n{fields}'


PAGES: dict[str, Callable[[], str]] = {
    "docs/ops.md": ops_page,
    "docs/passes.md": passes_page,
    "docs/flags.md": flags_page,
    "python/armillary/_core.pyi": stub,
}

if __name__ == "__main__":
    top = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    for name, page in PAGES.items():
        (top / name).parent.mkdir(exist_ok=True)
        (top / name).write_text(page())
        print(name)
