"""`armillary run`: arguments, one or two targets, and how far their results are apart."""

import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from armillary import _core
from armillary._arrays import flatten, nest
from armillary._errors import user_error
from armillary._executable import compile_core
from armillary._load import load_to_run

_SHOWN_ELEMENTS = 8


class Options(NamedTuple):
    file: Path
    args: Path | None
    random: bool
    seed: int
    target: str
    compare: str | None
    tolerance: float | None
    repeat: int
    out: Path | None


class Result(NamedTuple):
    arrays: list[np.ndarray]
    compile_seconds: float
    run_seconds: float


def run(options: Options, print_line: Callable[[str], None]) -> int:
    """Does what the options say and returns the exit status."""
    module, arrays = _prepare(options)
    result = run_on(options.target, module, arrays, options.repeat)
    print_line(
        f"{module.name} on {options.target}: compiled in {result.compile_seconds * 1e3:.1f} ms,"
        f" ran in {result.run_seconds * 1e3:.3f} ms"
    )
    for i, array in enumerate(result.arrays):
        print_line(f"  result {i}: {_describe(array)}")
    if options.out is not None:
        np.savez(options.out, *result.arrays)
    if options.compare is None:
        return 0
    other = run_on(options.compare, module, arrays, 1)
    tolerance = _default_tolerance(module) if options.tolerance is None else options.tolerance
    return _compare(options, tolerance, result.arrays, other.arrays, print_line)


def _prepare(options: Options) -> tuple[_core.Module, list[np.ndarray]]:
    """The program and its arguments."""
    _check(options)
    module = load_to_run(options.file)
    module.verify()
    leaves = [leaf for shape in module.entry.parameter_shapes for leaf in shape.leaves if leaf.is_array]
    return module, _arguments(options, leaves)


def _check(options: Options) -> None:
    """What can be wrong before anything is compiled."""
    known = ["interp", *(target["name"] for target in _core.list_targets())]
    for target in (options.target, options.compare):
        if target is not None and target not in known:
            raise user_error(f"there is no target {target!r}; there are: {', '.join(known)}")
    if options.tolerance is not None and np.isnan(options.tolerance):
        raise user_error("--tolerance is no number: every difference would be within it")
    if options.args is not None and options.random:
        raise user_error("--args and --random exclude each other")
    if options.out is not None and (options.out.is_dir() or not options.out.resolve().parent.is_dir()):
        raise user_error("it cannot be written: its folder does not exist, or it is one", str(options.out))


def bisect(options: Options, print_line: Callable[[str], None]) -> int:
    """Finds the rewrite after which cpu and the interpreter disagree; the exit status says whether they do."""
    module, arrays = _prepare(options)
    expected = run_on("interp", module, arrays).arrays
    tolerance = _default_tolerance(module) if options.tolerance is None else options.tolerance

    def is_wrong(fuel: int) -> bool:
        _core.set_flag("pass_fuel", str(fuel))
        found = run_on("cpu", module, arrays).arrays
        return any(difference(a, b) > tolerance for a, b in zip(found, expected, strict=True))

    before = _core.get_flag("pass_fuel")
    try:
        if not is_wrong(-1):
            print_line(f"cpu and interp agree within {tolerance:g}")
            return 0
        if is_wrong(0):
            print_line("cpu and interp disagree before the first rewrite: no pass is to blame")
            return 1
        right, wrong = 0, 1
        while not is_wrong(wrong):
            right, wrong = wrong, 2 * wrong
        while wrong - right > 1:
            middle = (right + wrong) // 2
            right, wrong = (right, middle) if is_wrong(middle) else (middle, wrong)
        _core.set_flag("pass_fuel", str(wrong))
        print_line(f"rewrite {wrong} breaks the result: {compile_core(module, 'cpu').last_rewrite}")
        return 1
    finally:
        _core.set_flag("pass_fuel", before)


def _default_tolerance(module: _core.Module) -> float:
    """1e-5, or a few roundings of the narrowest float that the program computes with."""
    shapes = [i.shape for c in module.computations for i in c.instructions if i.shape.is_array]
    floats = {s.element_type: s.dtype for s in shapes if s.element_type.startswith(("f", "bf"))}
    return max([1e-5, *(2 * float(ml_dtypes.finfo(dtype).eps) for dtype in floats.values())])


def run_on(target: str, module: _core.Module, arrays: list[np.ndarray], repeat: int = 1) -> Result:
    """Runs a verified module; `interp` is the interpreter, anything else a target of list_targets()."""
    start = time.perf_counter()
    program = compile_core(module, target)
    compiled = time.perf_counter()
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        results = program.execute(arrays, [])
        seconds.append(time.perf_counter() - begin)
    return Result(_only_arrays(nest(program.result_shape, iter(results))), compiled - start, min(seconds))


def _only_arrays(values: Any) -> list[np.ndarray]:
    return [value for value in flatten(values) if value is not None]


def random_array(shape: _core.Shape, rng: np.random.Generator) -> np.ndarray:
    """Floats: normal. Integers: 0 to 3, which most programs can use as indices. Booleans: fair."""
    dims, kind = shape.dims, shape.element_type
    if kind == "pred":
        return rng.integers(0, 2, dims).astype(np.bool_)
    if kind.startswith("c"):
        return np.asarray(rng.standard_normal(dims) + 1j * rng.standard_normal(dims)).astype(shape.dtype)
    if kind[0] in "su":
        narrow = {"s1": 1, "u1": 2, "s2": 2}.get(kind, 4)
        return rng.integers(0, narrow, dims).astype(shape.dtype)
    return np.asarray(rng.standard_normal(dims)).astype(shape.dtype)


def _arguments(options: Options, leaves: list[_core.Shape]) -> list[np.ndarray]:
    if options.args is not None:
        return _read_arguments(options.args, leaves)
    if leaves and not options.random:
        shapes = ", ".join(map(str, leaves))
        raise user_error(f"the program takes {shapes}: pass --args FILE.npz or --random", str(options.file))
    for leaf in leaves:
        if any(size < 0 for size in leaf.dims):
            raise user_error(f"{leaf} has no size to choose random values for", str(options.file))
    rng = np.random.default_rng(options.seed)
    try:
        return [random_array(leaf, rng) for leaf in leaves]
    except (ValueError, MemoryError) as error:  # what NumPy has no array for
        raise user_error(f"no random arguments: {error}", str(options.file)) from None


def _read_arguments(path: Path, leaves: list[_core.Shape]) -> list[np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as data:
            arrays = [data[name] for name in data.files]
    except (ValueError, TypeError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or "it is no .npz file of plain arrays"
        raise user_error(reason, str(path)) from None
    if len(arrays) != len(leaves):
        raise user_error(f"it holds {len(arrays)} arrays, but the program takes {len(leaves)}", str(path))
    return [_restore_dtype(array, leaf) for array, leaf in zip(arrays, leaves, strict=True)]


def _restore_dtype(array: np.ndarray, leaf: _core.Shape) -> np.ndarray:
    """The .npz format stores the types of ml_dtypes as plain bytes."""
    plain = array.dtype.kind == "V" and array.dtype.itemsize == leaf.dtype.itemsize
    return array.view(leaf.dtype) if plain else array


def _describe(array: np.ndarray) -> str:
    flat = array.reshape(-1)
    shown = " ".join(str(value) for value in flat[:_SHOWN_ELEMENTS])
    more = " ..." if flat.size > _SHOWN_ELEMENTS else ""
    return f"{array.dtype}[{','.join(map(str, array.shape))}]  {shown}{more}"


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest absolute difference relative to the largest finite magnitude; infinite when shapes, dtypes, NaNs or
    infinities differ."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return float("inf")
    if not ours.size:
        return 0.0
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    exact = ours.dtype.kind in "biu"
    a, b = ours.astype(wide), theirs.astype(wide)
    if exact:
        return 0.0 if np.array_equal(ours, theirs) else float(np.max(np.abs(a - b)))
    finite = np.isfinite(a) & np.isfinite(b)
    same = np.array_equal(a[~finite], b[~finite], equal_nan=True)
    if not same:
        return float("inf")
    if not finite.any():
        return 0.0
    a, b = a[finite], b[finite]
    return float(np.max(np.abs(a - b)) / max(float(np.max(np.abs(b))), np.finfo(np.float64).tiny))


def _compare(
    options: Options,
    tolerance: float,
    ours: list[np.ndarray],
    theirs: list[np.ndarray],
    print_line: Callable[[str], None],
) -> int:
    worst = 0.0
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        error = difference(a, b)
        worst = max(worst, error)
        print_line(
            f"  result {i}: {options.target} and {options.compare} differ by {error:.2e} of the largest value"
        )
    verdict = "within" if worst <= tolerance else "beyond"
    print_line(f"largest difference {worst:.2e}: {verdict} the tolerance of {tolerance:g}")
    return int(not worst <= tolerance)
