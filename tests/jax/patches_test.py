"""Each place where we reach into JAX still exists: a failure here names what a new JAX has moved."""

import logging

import armillary as arm
import pytest
from armillary import _jax_patches, jax_plugin
from jax._src import xla_bridge

from tests.jax.plugin import our_devices

our_devices()
NAMES = [patch.__name__.strip("_") for patch in _jax_patches.patches]


@pytest.mark.parametrize("name", NAMES)
def test_the_patch_fits(name: str) -> None:
    error = _jax_patches.applied[name]
    assert error is None, f"{name}: {error!r}"


def test_rules_registered_later_are_ours_too() -> None:
    from jax._src.interpreters import mlir

    tables = mlir._platform_specific_lowerings
    assert tables[jax_plugin.PLATFORM] is tables[jax_plugin.TPU_PLATFORM] is tables["cpu"]


def test_starting_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        xla_bridge._init_backend(jax_plugin.PLATFORM)
    assert not caplog.records


def test_what_is_not_there_says_why() -> None:
    with pytest.raises(RuntimeError, match="JAX_PLATFORMS=armillary"):
        xla_bridge._init_backend("armillary_cuda")


def test_a_pod_that_nobody_asked_for_may_be_missing() -> None:
    our_devices()
    assert xla_bridge._backend_factories[jax_plugin.TPU_PLATFORM].fail_quietly
    arm.set_flags("tpu_topology=v5e:64x64")
    try:
        with pytest.raises(RuntimeError, match="a pod of v5e is 16x16"):
            xla_bridge._init_backend(jax_plugin.TPU_PLATFORM)
    finally:
        arm.set_flags("tpu_topology=v5e:1x1")


def test_the_first_question_may_be_for_cpu_devices() -> None:
    our_devices()
    assert xla_bridge._backends.get("cpu") is xla_bridge._backends[jax_plugin.PLATFORM]
