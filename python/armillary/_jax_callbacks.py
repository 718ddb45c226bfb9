"""Patches for Python functions that programs call, at run time or while they are partitioned. See _jax_patches."""

import functools
from collections.abc import Callable
from typing import Any

from armillary._jax_patches import Platforms, patch


@patch
def _python_callbacks(platforms: Platforms) -> None:
    """emit_python_callback() knows four platforms. For ours it writes what it writes for cpu, but with our numbers."""
    from jax._src import callback as jax_callback
    from jax.interpreters import mlir as public_mlir

    from armillary._callbacks import Callback

    original = jax_callback.emit_python_callback

    class Numbered:
        """Stands for the list of host callbacks, in which a function's place is its number."""

        def __init__(self, keep: Callable[[Any], None]):
            self._keep = keep
            self._index = 0

        def append(self, function: Any) -> None:
            callback = Callback(function)
            self._keep(callback)
            self._index = callback.index

        def __len__(self) -> int:
            return self._index + 1

    class AsCpu:
        def __init__(self, context: Any):
            self._context = context
            self.host_callbacks = Numbered(context.add_keepalive)

        platforms = ("cpu",)

        def add_host_callback(self, function: Any) -> None:
            self.host_callbacks.append(function)
            self._context.add_host_callback(function)  # JAX keeps programs that call Python out of its cache

        def __getattr__(self, name: str) -> Any:
            return getattr(self._context, name)

    @functools.wraps(original)
    def emit_python_callback(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        if len(ctx.module_context.platforms) == 1 and ctx.module_context.platforms[0] in platforms:
            ctx = ctx.replace(module_context=AsCpu(ctx.module_context))
        return original(ctx, *args, **kwargs)

    jax_callback.emit_python_callback = emit_python_callback
    public_mlir.emit_python_callback = emit_python_callback


@patch
def _host_callbacks(platforms: Platforms) -> None:
    """What JAX knows of a program's callbacks is its own: our compiler finds them by their numbers."""
    from jax._src import compiler

    original = compiler.backend_compile_and_load

    @functools.wraps(original)
    def compile_and_load(backend: Any, module: Any, devices: Any, options: Any, host_callbacks: Any) -> Any:
        return original(
            backend, module, devices, options, () if backend.platform in platforms else host_callbacks
        )

    compiler.backend_compile_and_load = compile_and_load


@patch
def _inspected_shardings(platforms: Platforms) -> None:
    """jax.debug.inspect_array_sharding() writes the address of a function into the program: ours gets a number."""
    import dataclasses
    import threading

    from jax._src import debugging
    from jax._src.interpreters import mlir

    from armillary._callbacks import Callback

    entry, lowering = mlir._lowerings[debugging.inspect_sharding_p], threading.local()

    class Numbering:
        def __init__(self, jaxlib: Any):
            self._jaxlib = jaxlib

        def encode_inspect_sharding_callback(self, function: Callable[[Any], None]) -> Any:
            context = getattr(lowering, "context", None)
            if context is None:
                return self._jaxlib.encode_inspect_sharding_callback(function)

            def without_results(sharding: Any) -> tuple[()]:
                function(sharding)
                return ()

            callback = Callback(without_results)
            context.add_keepalive(callback)
            return str(callback.index)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._jaxlib, name)

    @functools.wraps(entry.rule)
    def rule(ctx: Any, *args: Any, **params: Any) -> Any:
        if len(ctx.module_context.platforms) == 1 and ctx.module_context.platforms[0] in platforms:
            lowering.context = ctx.module_context
        try:
            return entry.rule(ctx, *args, **params)
        finally:
            lowering.context = None

    debugging.xc = Numbering(debugging.xc)
    mlir._lowerings[debugging.inspect_sharding_p] = dataclasses.replace(entry, rule=rule)


@patch
def _buffer_callbacks(platforms: Platforms) -> None:
    """jax.experimental.buffer_callback: a callback that writes its results into arrays that it is given."""
    import dataclasses

    from jax._src import buffer_callback, callback
    from jax._src.interpreters import mlir

    from armillary._callbacks import fill_buffers

    entry = mlir._lowerings[buffer_callback.buffer_callback_p]

    @functools.wraps(entry.rule)
    def rule(ctx: Any, *args: Any, **params: Any) -> Any:
        if len(ctx.module_context.platforms) != 1 or ctx.module_context.platforms[0] not in platforms:
            return entry.rule(ctx, *args, **params)
        run = fill_buffers(
            params["callback"],
            params["in_tree"],
            params["out_tree"],
            ctx.avals_out,
            dict(params["input_output_aliases"]),
        )
        results, _, _ = callback.emit_python_callback(
            ctx, run, None, list(args), ctx.avals_in, ctx.avals_out, has_side_effect=params["has_side_effect"]
        )
        return results

    mlir._lowerings[buffer_callback.buffer_callback_p] = dataclasses.replace(entry, rule=rule)
