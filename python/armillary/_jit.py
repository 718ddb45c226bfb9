"""armillary.jit: JAX functions traced by JAX, compiled and run by us."""

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from armillary import _core
from armillary._arrays import as_array
from armillary._errors import user_error
from armillary._executable import Executable, Trees, compile_program
from armillary._load import load


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    target: str = "cpu",
) -> Any:
    """Compiles a JAX function the first time it sees a set of shapes and dtypes, like jax.jit; also a decorator.

    Arguments are pytrees of NumPy, JAX or DLPack arrays and Python numbers; results are pytrees of NumPy arrays, which
    JAX functions take as they are. Donated arguments may be overwritten and handed back if they are writable NumPy
    arrays (which our own results are); the immutable arrays of JAX are left alone. `target` is a name from
    list_targets(). Transformations (grad, vmap) go inside: arm.jit(jax.grad(f)).
    """
    options: dict[str, Any] = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
    }
    if function is None:
        return functools.partial(jit, target=target, **options)
    return JittedFunction(function, target, {k: v for k, v in options.items() if v is not None})


class _Program:
    """One compiled signature: how to prepare each leaf, and how to wrap each result."""

    def __init__(self, lowered: Any, target: str):
        import jax

        trees = Trees.of(lowered)
        assert trees is not None
        self.trees = trees
        self.core = compile_program(lowered, load(lowered), target)
        shapes = [leaf for shape in self.core.parameter_shapes for leaf in shape.leaves if leaf.is_array]
        self.dtypes = [shape.dtype for shape in shapes]
        flags = [
            bool(info.donated) for info in jax.tree_util.tree_leaves(lowered.args_info, is_leaf=_is_info)
        ]
        self.donated = [False] * len(self.trees.constants) + flags

    def __call__(self, leaves: list[Any]) -> list[Any]:
        arrays, donated = [], []
        for leaf, dtype, donate in zip(
            [*self.trees.constants, *leaves] if self.trees.constants else leaves,
            self.dtypes,
            self.donated,
            strict=True,
        ):
            array = leaf if type(leaf) is np.ndarray else as_array(leaf, dtype)
            if array.dtype != dtype:
                array = array.astype(dtype)
            arrays.append(array)
            donated.append(donate and array.flags.writeable)
        if any(donated):
            _keep_shared(arrays, donated)
        return self.trees.wrapped(self.core.execute(arrays, donated))


def _keep_shared(arrays: list[np.ndarray], donated: list[bool]) -> None:
    """Arrays that lie in each other's memory are not given away: the program would overwrite what it still reads."""
    bounds = sorted((*byte_bounds(array), i) for i, array in enumerate(arrays) if array.size)
    end, owner = 0, -1
    for low, high, i in bounds:
        if low < end:
            donated[i] = donated[owner] = False
        if high > end:
            end, owner = high, i


class JittedFunction:
    """A function that compiles itself for each signature it is called with. See jit()."""

    def __init__(self, function: Callable[..., Any], target: str, options: dict[str, Any]):
        import jax

        functools.update_wrapper(self, function)
        self._statics = _Statics(function, options)
        # Unused arguments stay: the flat program then has one parameter per leaf.
        self._jitted = jax.jit(function, keep_unused=True, **{**options, **self._statics.options()})
        self._target = target
        self._programs: dict[Any, _Program] = {}
        self._tree_flatten = jax.tree_util.tree_flatten
        self._tree_unflatten = jax.tree_util.tree_unflatten
        self._array_type = jax.Array
        self._tracer_type = jax.core.Tracer
        self._config = jax.config

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        statics, dynamic = self._statics.split(arguments, keywords)
        leaves, tree = self._tree_flatten(dynamic)
        key = (tree, statics, self._context(), *map(self._signature, leaves))
        program = self._programs.get(key)
        if program is None:
            program = self._compile(key, arguments, keywords)
        return self._tree_unflatten(program.trees.out_tree, program(leaves))

    def lower(self, *arguments: Any, **keywords: Any) -> Any:
        """What JAX hands us: a jax.stages.Lowered."""
        return self._jitted.lower(*arguments, **keywords)

    def compile(self, *arguments: Any, **keywords: Any) -> Executable:
        """The Executable for these arguments, to look at or to call with the dynamic ones."""
        lowered = self.lower(*arguments, **keywords)
        return Executable(
            compile_program(lowered, load(lowered), self._target), self._target, Trees.of(lowered)
        )

    def _compile(self, key: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> _Program:
        if self._programs and _core.get_flag("explain_recompiles") == "true":
            _explain(getattr(self, "__name__", "function"), key, list(self._programs))
        program = _Program(self.lower(*arguments, **keywords), self._target)
        self._programs[key] = program
        return program

    def _context(self) -> Any:
        """The settings of JAX that change what a trace gives."""
        config = self._config
        return config.jax_enable_x64, config.jax_default_matmul_precision, config.jax_default_prng_impl

    def _signature(self, leaf: Any) -> Any:
        """All of a leaf that a trace depends on."""
        if type(leaf) is np.ndarray:
            return leaf.shape, leaf.dtype
        if isinstance(leaf, self._tracer_type):
            raise user_error(
                "a function of armillary.jit cannot be transformed by JAX: put the transformation inside, as in"
                " arm.jit(jax.grad(f))"
            )
        if isinstance(leaf, self._array_type):
            return leaf.shape, leaf.dtype, getattr(leaf, "weak_type", False)
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)
        array = as_array(leaf)
        return array.shape, array.dtype


class _Statics:
    """Which arguments are static; they are part of the signature by value."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        nums, names = options.get("static_argnums"), options.get("static_argnames")
        self.nums = {nums} if isinstance(nums, int) else set(nums or ())
        self.names = {names} if isinstance(names, str) else set(names or ())
        if self.nums or self.names:
            self._infer(function)

    def _infer(self, function: Callable[..., Any]) -> None:
        """JAX reads names from numbers and numbers from names; so do we."""
        import inspect

        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return
        by_place = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.nums = {n + len(by_place) if n < 0 else n for n in self.nums}
        self.nums |= {n for n, name in enumerate(by_place) if name in self.names}
        self.names |= {by_place[n] for n in self.nums if n < len(by_place)}

    def options(self) -> dict[str, Any]:
        """For jax.jit, so that both mean the same arguments, however a call passes them."""
        given = {"static_argnums": tuple(sorted(self.nums)), "static_argnames": tuple(sorted(self.names))}
        return {name: value for name, value in given.items() if value}

    def split(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, Any]:
        if not self.nums and not self.names:
            return (), (arguments, keywords)
        statics: tuple[Any, ...] = tuple((n, a) for n, a in enumerate(arguments) if n in self.nums)
        statics += tuple(sorted((k, v) for k, v in keywords.items() if k in self.names))
        dynamic = tuple(a for n, a in enumerate(arguments) if n not in self.nums)
        try:
            hash(statics)
        except TypeError:
            raise user_error("a static argument must be hashable") from None
        return statics, (dynamic, {k: v for k, v in keywords.items() if k not in self.names})


def _is_info(leaf: Any) -> bool:
    return hasattr(leaf, "donated")


def _explain(name: str, key: Any, known: list[Any]) -> None:
    """Says to stderr how this signature differs from the nearest one that is compiled already."""

    def differences(other: Any) -> list[str]:
        if other[0] != key[0]:
            return [f"the structure of the arguments is {key[0]}, was {other[0]}"]
        found = [f"static arguments are {key[1]}, were {other[1]}"] if other[1] != key[1] else []
        found += [f"JAX's settings are {key[2]}, were {other[2]}"] if other[2] != key[2] else []
        pairs = enumerate(zip(other[3:], key[3:], strict=True))
        return found + [
            f"leaf {i} is {_show(new)}, was {_show(old)}" for i, (old, new) in pairs if old != new
        ]

    reasons = min((differences(other) for other in known), key=len)
    print(f"armillary: compiling {name} again: {'; '.join(reasons)}", file=sys.stderr)


def _show(signature: Any) -> str:
    if isinstance(signature, type):
        return signature.__name__
    shape, dtype, *weak = signature
    return f"{dtype}[{','.join(map(str, shape))}]" + (" (weak)" if weak and weak[0] else "")
