"""The command `armillary simulate`: options to a simulation, and its result to files."""

import contextlib
import inspect
import json
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
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
    _check_outputs(options)
    with _as_script(options.file):
        _run(options, print_line)


def _run(options: Options, print_line: Callable[[str], None]) -> None:
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


def _check_outputs(options: Options) -> None:
    """What cannot be written is said before an hour of simulation, not after it."""
    for file in (options.trace, options.html):
        if file is not None and (file.is_dir() or not _may_write_in(file.parent)):
            raise user_error(f"cannot write to {file}")
    if options.xprof is not None:
        there = next(path for path in (options.xprof, *options.xprof.absolute().parents) if path.exists())
        if not _may_write_in(there):
            raise user_error(f"cannot write below {options.xprof}")


def _may_write_in(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK)


@contextlib.contextmanager
def _as_script(file: Path) -> Iterator[None]:
    """A script finds its neighbours and its arguments as under python."""
    path, arguments = list(sys.path), sys.argv
    if file.suffix == ".py":
        sys.path.insert(0, str(file.resolve().parent))
        sys.argv = [str(file)]
    try:
        yield
    finally:
        sys.path[:], sys.argv = path, arguments


def _names_of(script: Path) -> dict[str, Any]:
    try:
        return runpy.run_path(str(script))
    except Exception as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != str(script):
            frames = frames.tb_next
        traceback.print_exception(error.with_traceback(frames))
        raise user_error(f"the script raised {type(error).__name__}", str(script)) from None


def _program_of(options: Options) -> tuple[Any, tuple[Any, ...]]:
    if options.file.suffix != ".py":
        return options.file, _random_arguments(options) if options.values != "none" else ()
    if not options.file.exists():
        raise user_error("there is no such file", str(options.file))
    names = _names_of(options.file)
    missing = [name for name in _SCRIPT_NAMES if name not in names]
    if missing:
        raise user_error(
            f"it lacks {' and '.join(missing)}: a script says what to simulate as `step`, a JAX function, and"
            " `arguments`, a tuple of arrays or jax.ShapeDtypeStructs",
            str(options.file),
        )
    return names["step"], _checked(names["step"], names["arguments"], options.file)


def _checked(step: Any, arguments: Any, script: Path) -> tuple[Any, ...]:
    if not isinstance(arguments, tuple | list):
        raise user_error(
            f"`arguments` is {type(arguments).__name__}, but must be a tuple of arrays or jax.ShapeDtypeStructs",
            str(script),
        )
    if not callable(step):
        raise user_error(f"`step` is {type(step).__name__}, but must be a JAX function", str(script))
    try:
        inspect.signature(step).bind(*arguments)
    except TypeError as error:
        count = len(arguments)
        raise user_error(f"`step` does not take the {count} of `arguments`: {error}", str(script)) from None
    except ValueError:  # not all callables have a signature
        pass
    return tuple(arguments)


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
