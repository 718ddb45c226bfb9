"""Registers our platform as the wheel's entry point does; import it before JAX is used."""

from typing import Any

import jax
from armillary import jax_plugin
from jax._src import xla_bridge

if jax_plugin.PLATFORM not in xla_bridge._backend_factories:
    jax_plugin.initialize()


def our_devices() -> list[Any]:
    devices: list[Any] = jax.devices()
    assert devices[0].platform == jax_plugin.PLATFORM
    return devices
