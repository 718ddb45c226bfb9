"""The `jax_plugins` entry point: JAX finds our devices here, as JAX_PLATFORMS=armillary.

`armillary` is this machine's processor. `armillary_tpu` is a pod of simulated TPUs, chosen by
ARMILLARY_FLAGS=tpu_topology=v5e:2x2: values come from the processor, times from the simulator (armillary.sim.programs()).
`armillary_cuda` is known by name and says why it is not there. A program that does not ask for them is not affected by any
of this but for the time of one import.
"""

from pathlib import Path
from typing import Any

PLATFORM = "armillary"
TPU_PLATFORM = "armillary_tpu"
_REASONS = {
    "armillary_cuda": "armillary has no CUDA back end yet; JAX_PLATFORMS=armillary runs on the processor",
}
_BELOW_CPU = -10  # JAX's own cpu has priority 0: who names no platform gets what they had


def initialize() -> None:
    """Called by JAX when it looks for its platforms."""
    from jax._src import xla_bridge

    from armillary import _jax_patches

    _jax_patches.apply((PLATFORM, TPU_PLATFORM))
    library = Path(__file__).with_name("_core.so")
    xla_bridge.register_plugin(PLATFORM, priority=_BELOW_CPU, library_path=str(library), options=_options)
    xla_bridge.register_plugin(
        TPU_PLATFORM, priority=_BELOW_CPU - 1, library_path=str(library), options={"platform": TPU_PLATFORM}
    )
    # tpu_topology may be wrong, or too large for JAX: who has not asked for this platform goes on without it.
    xla_bridge._backend_factories[TPU_PLATFORM].fail_quietly = True
    for name, reason in _REASONS.items():
        xla_bridge.register_backend_factory(
            name, _unavailable(reason), priority=_BELOW_CPU - 2, fail_quietly=True
        )


def _options() -> dict[str, Any]:
    """What a client is made with: as many devices as JAX's own cpu platform would have."""
    from jax._src import config

    count = getattr(getattr(config, "num_cpu_devices", None), "value", -1)
    return {"devices": count} if count > 0 else {}


def _unavailable(reason: str) -> Any:
    def factory() -> None:
        raise RuntimeError(reason)

    return factory
