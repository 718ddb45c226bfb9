"""What JAX hard-codes for the platforms it knows, made true for ours as well.

JAX treats a platform by its name in a few private tables. Ours compute as a cpu does, so they take part in them as "cpu"
does. Each patch stands alone and is left out when JAX has changed under it: what it enables is then missing, and
tests/jax/patches_test.py says which.
"""

import functools
from collections.abc import Callable
from typing import Any

_Platforms = tuple[str, ...]
_Patch = Callable[[_Platforms], None]
_patches: list[_Patch] = []
applied: dict[str, Exception | None] = {}  # by name; what went wrong with it


def apply(platforms: _Platforms) -> None:
    """Makes all patches, once, for all of our platforms."""
    for patch in _patches:
        name = patch.__name__.strip("_")
        if name in applied:
            continue
        try:
            patch(platforms)
            applied[name] = None
        except Exception as error:  # JAX's private parts may change in any way
            applied[name] = error


def _patch(function: _Patch) -> _Patch:
    _patches.append(function)
    return function


@_patch
def _lowerings(platforms: _Platforms) -> None:
    """Rules registered for cpu, now or later, are ours: one table with several names."""
    from jax._src.interpreters import mlir

    tables = mlir._platform_specific_lowerings
    for platform in platforms:
        if tables[platform] is not tables["cpu"]:
            tables["cpu"].update({p: r for p, r in tables[platform].items() if p not in tables["cpu"]})
            tables[platform] = tables["cpu"]


@_patch
def _branches(platforms: _Platforms) -> None:
    """jax.lax.platform_dependent(cpu=...) and rules with one branch a platform: ours takes cpu's."""
    from jax._src.interpreters import mlir

    original = mlir.lower_per_platform

    @functools.wraps(original)
    def lower_per_platform(
        ctx: Any, description: str, platform_rules: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        if "cpu" in platform_rules:
            platform_rules = {**dict.fromkeys(platforms, platform_rules["cpu"]), **platform_rules}
        return original(ctx, description, platform_rules, *args, **kwargs)

    mlir.lower_per_platform = lower_per_platform


@_patch
def _donation(platforms: _Platforms) -> None:
    from jax._src.interpreters import mlir

    known = mlir._platforms_with_donation
    known.extend(platform for platform in platforms if platform not in known)


@_patch
def _no_warning(platforms: _Platforms) -> None:
    """JAX calls a platform that it does not know experimental, on every start."""
    from jax._src import xla_bridge

    known = xla_bridge._nonexperimental_plugins
    known.update(platforms) if isinstance(known, set) else known.extend(platforms)


@_patch
def _compilation_cache(platforms: _Platforms) -> None:
    """is_cache_used() asks for the platform's name among four; ours serializes executables as well."""
    from jax._src import compilation_cache

    original = compilation_cache.is_cache_used

    class AsCpu:
        def __init__(self, backend: Any):
            self._backend = backend

        platform = "cpu"

        def __getattr__(self, name: str) -> Any:
            return getattr(self._backend, name)

    @functools.wraps(original)
    def is_cache_used(backend: Any) -> bool:
        return original(AsCpu(backend) if backend.platform in platforms else backend)

    compilation_cache.is_cache_used = is_cache_used


@_patch
def _cpu_devices(platforms: _Platforms) -> None:
    """jax.devices("cpu") where JAX_PLATFORMS names only ours: callbacks and scripts want the host, and ours is the host."""
    from jax._src import xla_bridge

    original = xla_bridge._get_backend_uncached

    @functools.wraps(original)
    def get_backend(name: Any = None) -> Any:
        if name == "cpu":
            backends = xla_bridge.backends()
            if "cpu" not in backends:
                name = next((platform for platform in platforms if platform in backends), name)
        return original(name)

    xla_bridge._get_backend_uncached = get_backend


@_patch
def _dlpack(platforms: _Platforms) -> None:
    """Our arrays lie in host memory: NumPy's views of them are what is exported."""
    import numpy as np
    from jax._src import array, dlpack

    from armillary import _core

    original = array.ArrayImpl.__dlpack_device__

    @functools.wraps(original)
    def dlpack_device(self: Any) -> Any:
        if len(self._arrays) == 1 and self.platform() in platforms:
            return dlpack.DLDeviceType.kDLCPU, 0
        return original(self)

    class OurExport:
        def __init__(self, jaxlib: Any):
            self._jaxlib = jaxlib

        def buffer_to_dlpack_managed_tensor(self, buffer: Any, *args: Any, **kwargs: Any) -> Any:
            if buffer.platform() in platforms:
                return _core.to_dlpack(np.asarray(buffer))
            return self._jaxlib.buffer_to_dlpack_managed_tensor(buffer, *args, **kwargs)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._jaxlib, name)

    array.ArrayImpl.__dlpack_device__ = dlpack_device
    dlpack._jax = OurExport(dlpack._jax)


@_patch
def _python_callbacks(platforms: _Platforms) -> None:
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

        def __getattr__(self, name: str) -> Any:
            return getattr(self._context, name)

    @functools.wraps(original)
    def emit_python_callback(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        if len(ctx.module_context.platforms) == 1 and ctx.module_context.platforms[0] in platforms:
            ctx = ctx.replace(module_context=AsCpu(ctx.module_context))
        return original(ctx, *args, **kwargs)

    jax_callback.emit_python_callback = emit_python_callback
    public_mlir.emit_python_callback = emit_python_callback


@_patch
def _platform_conditions(platforms: _Platforms) -> None:
    """The branches that jax.lax.platform_dependent() leaves for each platform: ours is among those of cpu."""
    import dataclasses

    from jax._src.interpreters import mlir
    from jax._src.lax.control_flow import conditionals

    entry = mlir._lowerings[conditionals.cond_p]

    def with_ours(names: _Platforms | None) -> _Platforms | None:
        return (*names, *platforms) if names and "cpu" in names else names

    @functools.wraps(entry.rule)
    def rule(*args: Any, **params: Any) -> Any:
        if branches := params.get("branches_platforms"):
            params["branches_platforms"] = tuple(map(with_ours, branches))
        return entry.rule(*args, **params)

    mlir._lowerings[conditionals.cond_p] = dataclasses.replace(entry, rule=rule)


@_patch
def _first_cpu_devices(platforms: _Platforms) -> None:
    """A question for "cpu" that itself starts the platforms is already past what _cpu_devices changes."""
    from jax._src import xla_bridge

    class Backends(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            if name == "cpu" and "cpu" not in self:
                name = next((platform for platform in platforms if platform in self), name)
            return super().get(name, default)

    xla_bridge._backends = Backends(xla_bridge._backends)


@_patch
def _exported_programs(platforms: _Platforms) -> None:
    """What is exported for cpu runs on ours, and what is exported on ours is for cpu, so that it runs on both."""
    import dataclasses

    from jax import export
    from jax._src.export import _export
    from jax._src.interpreters import mlir

    default, entry = _export.default_export_platform, mlir._lowerings[_export.call_exported_p]

    @functools.wraps(default)
    def default_export_platform() -> str:
        name = default()
        return "cpu" if name in platforms else name

    @functools.wraps(entry.rule)
    def rule(ctx: Any, *args: Any, exported: Any, **params: Any) -> Any:
        ours = [p for p in ctx.module_context.platforms if p in platforms and p not in exported.platforms]
        for platform in ours:
            names = tuple(platform if name == "cpu" else name for name in exported.platforms)
            exported = dataclasses.replace(exported, platforms=names)
        return entry.rule(ctx, *args, exported=exported, **params)

    for module in (export, _export):
        module.default_export_platform = default_export_platform
    mlir._lowerings[_export.call_exported_p] = dataclasses.replace(entry, rule=rule)


@_patch
def _inspected_shardings(platforms: _Platforms) -> None:
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
