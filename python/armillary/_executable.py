"""Compiled programs."""

import functools
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from armillary import _core
from armillary._arrays import arrays_for, as_array, flatten, nest
from armillary._callbacks import Calling, numbered_in
from armillary._errors import user_error
from armillary._load import load_to_run

_blas_looked_for = False


def compile(program: Any, target: str = "cpu", *, optimise: bool = True) -> "Executable":
    """Compiles HLO or StableHLO (text, bytes or the path of a file), a Module, or what jax.jit(f).lower(...) returns.

    `target` is a name from list_targets(), or interp for the interpreter, which runs the program as it is, op by op.
    With `optimise=False` only what the back end needs is done. A compiled Lowered is called like the function it came from, anything else with one array (or nested tuple) per parameter.
    Raises UserError for wrong programs and unknown targets, UnsupportedError for what cannot run yet.
    """
    trees = Trees.of(program)
    return Executable(compile_program(program, load_to_run(program), target, optimise), target, trees)


class Interpreted:
    """The interpreter with the methods of the core's Executable: nothing is compiled."""

    compile_seconds = 0.0
    last_rewrite = ""

    def __init__(self, module: _core.Module):
        module.verify()
        self.module = module
        self.module_name = module.name
        self.parameter_shapes = module.entry.parameter_shapes
        self.result_shape = module.entry.root.shape

    def execute(self, arrays: list[np.ndarray], donated: list[bool]) -> list[Any]:
        return list(flatten(_core.evaluate(self.module, arrays)))

    def as_text(self) -> str:
        return self.module.to_text()

    def cost(self) -> dict[str, float]:
        return _core.cost(self.module)

    def memory(self) -> dict[str, int]:
        return {}

    def kernels(self) -> list[dict[str, Any]]:
        return []

    def passes(self) -> list[dict[str, Any]]:
        return []


def compile_core(
    module: _core.Module, target: str, optimise: bool = True
) -> "_core.Executable | Interpreted":
    if target == "interp":
        return Interpreted(module)
    if target == "cpu":
        find_blas()
    return _core.compile(module, target, optimise)


def compile_program(program: Any, module: _core.Module, target: str, optimise: bool = True) -> Any:
    """The module of `program`, whose Python functions it may call."""
    with numbered_in(program) as callbacks:
        core = compile_core(module, target, optimise)
    return Calling(core, callbacks) if callbacks else core


def find_blas() -> None:
    """Tells the core, once, where OpenBLAS lies; without it our own kernels do what they can.

    SciPy's own copy comes first, which JAX's cpu platform uses as well: an order of eigenvalues that hangs on the last
    bit is then the same everywhere.
    """
    global _blas_looked_for
    if _blas_looked_for or _core.blas_loaded():
        return
    _blas_looked_for = True
    for folder in _blas_folders():
        for path in sorted(folder.glob("*openblas*.so*")):
            if _core.load_blas(str(path)):
                return


def _blas_folders() -> Iterator[Path]:
    for package, inside in (("scipy", "../scipy.libs"), ("scipy_openblas32", "lib")):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin:
            yield Path(spec.origin).parent / inside


class Trees:
    """How the arguments and results of a JAX function lie in the flat program."""

    def __init__(
        self,
        in_tree: Any,
        out_tree: Any,
        kept: Iterable[int] | None,
        constants: Iterable[Any],
        tokens: int,
        wrappers: "list[tuple[int, Callable[[Any], Any]]]",
    ):
        self.in_tree = in_tree
        self.out_tree = out_tree
        self.kept = None if kept is None else sorted(kept)
        self.constants = [as_array(c) for c in constants]
        self.tokens = tokens  # of ordered effects; among the results they come first
        self.wrappers = wrappers  # of those results that are more than arrays

    @classmethod
    def of(cls, program: Any) -> "Trees | None":
        """Of a jax.stages.Lowered; None for anything else."""
        if not (hasattr(program, "compiler_ir") and hasattr(program, "in_tree")):
            return None
        lowering = getattr(program, "_lowering", None)
        options = getattr(lowering, "compile_args", None) or {}
        constants = getattr(lowering, "const_args", None) or []
        tokens = len(options.get("ordered_effects") or ())
        kept, wrappers = options.get("kept_var_idx"), _key_wrappers(program)
        return cls(program.in_tree, program.out_tree, kept, constants, tokens, wrappers)

    def flatten(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> list[Any]:
        """The program's flat arguments. JAX drops those a function does not use and may hoist constants to the front."""
        import jax

        leaves, tree = jax.tree_util.tree_flatten((arguments, keywords))
        if tree != self.in_tree:
            raise user_error(f"the arguments have the structure {tree}, but {self.in_tree} was compiled")
        leaves = [*self.constants, *leaves]
        return leaves if self.kept is None else [leaves[i] for i in self.kept]

    def unflatten(self, results: list[Any]) -> Any:
        import jax

        return jax.tree_util.tree_unflatten(self.out_tree, self.wrapped(results))

    def wrapped(self, results: list[Any]) -> list[Any]:
        """The results of a run as the function's own: without tokens, with keys."""
        results = results[self.tokens :] if self.tokens else results
        for i, wrap in self.wrappers:
            results[i] = wrap(results[i])
        return results


def _key_wrappers(lowered: Any) -> "list[tuple[int, Callable[[Any], Any]]]":
    """Results that are typed random keys come out of the program as plain integers and are wrapped again."""
    import jax

    wrappers: list[tuple[int, Callable[[Any], Any]]] = []
    for i, info in enumerate(jax.tree_util.tree_leaves(lowered.out_info)):
        if not isinstance(info.dtype, np.dtype) and jax.dtypes.issubdtype(info.dtype, jax.dtypes.prng_key):
            wrappers.append((i, functools.partial(jax.random.wrap_key_data, impl=info.dtype._impl.name)))
    return wrappers


def _canonical(arrays: list[np.ndarray], shapes: list[_core.Shape]) -> list[np.ndarray]:
    """64-bit arrays become 32-bit ones where JAX traced them so; any other mismatch is left for the core to refuse."""
    import jax

    def convert(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
        differs = array.dtype != dtype and jax.dtypes.canonicalize_dtype(array.dtype) == dtype
        return array.astype(dtype) if differs else array

    leaves = [leaf for shape in shapes for leaf in shape.leaves if leaf.is_array]
    return [convert(array, leaf.dtype) for array, leaf in zip(arrays, leaves, strict=True)]


class Executable:
    """A compiled program. Call it with arrays; may be called from several threads at once."""

    def __init__(self, core: _core.Executable | Interpreted, target: str, trees: Trees | None = None):
        self._core = core
        self._trees = trees
        self.target = target

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Runs the program on NumPy, JAX or DLPack arrays and returns NumPy arrays.

        C-contiguous arrays are read in place. Wrong shapes and dtypes are UserErrors
        that name the parameter.
        """
        shapes, name = self._core.parameter_shapes, self._core.module_name
        if self._trees is not None:
            arrays = arrays_for(shapes, tuple(self._trees.flatten(arguments, keywords)), name)
            return self._trees.unflatten(self.execute(_canonical(arrays, shapes)))
        if keywords:
            raise user_error("a program that did not come from JAX has no argument names")
        return nest(self._core.result_shape, iter(self.execute(arrays_for(shapes, arguments, name))))

    def execute(self, arrays: list[np.ndarray], donated: list[bool] | None = None) -> list[Any]:
        """Flat arrays in, flat arrays out. The program may overwrite the ones marked `donated` and return them."""
        return self._core.execute(arrays, donated or [])

    def as_text(self) -> str:
        """The optimised and scheduled HLO."""
        return self._core.as_text()

    def cost(self) -> dict[str, float]:
        """flops, transcendentals and bytes_accessed of one run, counted on the optimised program."""
        return self._core.cost()

    def memory(self) -> dict[str, int]:
        """Bytes: argument, output, constant, temporary (and the max_live_bytes it cannot go below), alias, code."""
        return self._core.memory()

    def kernels(self) -> list[dict[str, Any]]:
        """The machine code: name, code_bytes, compile_seconds, and how many steps share it (uses)."""
        return self._core.kernels()

    def passes(self) -> list[dict[str, Any]]:
        """What each pass did: pipeline, pass, seconds, rewrites, instructions before and after, changed."""
        return self._core.passes()

    @property
    def module(self) -> _core.Module:
        """A copy of the optimised module."""
        return self._core.module

    @property
    def compile_seconds(self) -> float:
        return self._core.compile_seconds

    def __repr__(self) -> str:
        return f"<Executable {self._core.module_name} for {self.target}>"
