"""The command `armillary simulate`: options to a simulation, and its result to files."""

import json
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armillary._errors import user_error
from armillary._simulate import Result, Values, simulate

_SCRIPT_NAMES = ("step", "arguments")


@dataclass(frozen=True)
class Options:
    file: Path
    topology: str
    values: Values
    seed: int
    chip_file: Path | None
    allow_oom: bool
    trace: Path | None
    xprof: Path | None
    html: Path | None


def run(options: Options, print_line: Callable[[str], None]) -> None:
    """Simulates, prints the report and writes the files that were asked for."""
    chip = None
    if options.chip_file is not None:
        from armillary import sim

        chip = sim.load_chip(options.chip_file)
    program, arguments = _program_of(options)
    result = simulate(
        program,
        *arguments,
        topology=options.topology,
        values=options.values,
        chip=chip,
        allow_oom=options.allow_oom,
        progress=_progress() if sys.stderr.isatty() else None,
    )
    print_line(result.report())
    _write(options, result)


def _program_of(options: Options) -> tuple[Any, tuple[Any, ...]]:
    if options.file.suffix != ".py":
        return options.file, _random_arguments(options) if options.values != "none" else ()
    if not options.file.exists():
        raise user_error("there is no such file", str(options.file))
    names = runpy.run_path(str(options.file))
    missing = [name for name in _SCRIPT_NAMES if name not in names]
    if missing:
        raise user_error(
            f"it lacks {' and '.join(missing)}: a script says what to simulate as `step`, a JAX function, and"
            " `arguments`, a tuple of arrays or jax.ShapeDtypeStructs",
            str(options.file),
        )
    return names["step"], tuple(names["arguments"])


def _random_arguments(options: Options) -> tuple[Any, ...]:
    from armillary._load import load_to_run
    from armillary._run import random_array

    rng = np.random.default_rng(options.seed)
    shapes = load_to_run(options.file).entry.parameter_shapes
    return tuple(random_array(leaf, rng) for shape in shapes for leaf in shape.leaves if leaf.is_array)


def _progress() -> Callable[[float], None]:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task = bar.add_task("simulating", total=1.0)
    bar.start()

    def update(share: float) -> None:
        bar.update(task, completed=share)
        if share >= 1:
            bar.stop()

    return update


def _write(options: Options, result: Result) -> None:
    if options.trace is not None:
        options.trace.write_text(json.dumps(result.trace()), encoding="utf-8")
    if options.html is not None:
        options.html.write_text(result.html(), encoding="utf-8")
    if options.xprof is not None:
        result.write_xprof(options.xprof)
