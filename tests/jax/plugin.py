"""Registers our platform as the wheel's entry point does; import it before JAX is used."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from armillary import jax_plugin
from jax._src import compilation_cache, xla_bridge

if jax_plugin.PLATFORM not in xla_bridge._backend_factories:
    jax_plugin.initialize()


def our_devices() -> list[Any]:
    devices: list[Any] = jax.devices()
    assert devices[0].platform == jax_plugin.PLATFORM
    return devices


@contextlib.contextmanager
def cached_in(folder: Path, **more: Any) -> Iterator[None]:
    """With the persistent compilation cache in a folder, and more of JAX's settings."""
    settings = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
        **more,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    try:
        yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
