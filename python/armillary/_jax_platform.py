"""Patches for what JAX asks of a platform, its devices and its arrays. See _jax_patches."""

import functools
from typing import Any

from armillary._jax_patches import Platforms, patch


@patch
def _donation(platforms: Platforms) -> None:
    from jax._src.interpreters import mlir

    known = mlir._platforms_with_donation
    known.extend(platform for platform in platforms if platform not in known)


@patch
def _no_warning(platforms: Platforms) -> None:
    """JAX calls a platform that it does not know experimental, on every start."""
    from jax._src import xla_bridge

    known = xla_bridge._nonexperimental_plugins
    known.update(platforms) if isinstance(known, set) else known.extend(platforms)


@patch
def _compilation_cache(platforms: Platforms) -> None:
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


@patch
def _cpu_devices(platforms: Platforms) -> None:
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


@patch
def _dlpack(platforms: Platforms) -> None:
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

        def dlpack_managed_tensor_to_buffer(
            self, tensor: Any, device: Any, stream: Any, copy: bool | None, *args: Any
        ) -> Any:
            read = self._jaxlib.dlpack_managed_tensor_to_buffer
            if not copy or device.platform not in platforms:
                return read(tensor, device, stream, copy, *args)
            import jax.numpy as jnp

            # jaxlib's own copy wants a semantics of host memory that plugins are not offered.
            return jnp.array(read(tensor, device, stream, None, *args), copy=True).block_until_ready()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._jaxlib, name)

    array.ArrayImpl.__dlpack_device__ = dlpack_device
    dlpack._jax = OurExport(dlpack._jax)


@patch
def _first_cpu_devices(platforms: Platforms) -> None:
    """A question for "cpu" that itself starts the platforms is already past what _cpu_devices changes."""
    from jax._src import xla_bridge

    class Backends(dict[str, Any]):
        def get(self, name: str, default: Any = None) -> Any:
            if name == "cpu" and "cpu" not in self:
                name = next((platform for platform in platforms if platform in self), name)
            return super().get(name, default)

    xla_bridge._backends = Backends(xla_bridge._backends)
