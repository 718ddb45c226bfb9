"""Collectives on a torus, from Python."""

import armillary as arm
import pytest

KINDS = ["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "collective-permute"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("topology", ["v5e:4x4", "v5e:8x16", "v4:4x4x4", "v7x:2x2x1", "v5p:3x5", "v6e:1x1"])
def test_closed_forms_equal_the_events(kind: str, topology: str) -> None:
    args = (topology, kind, 12_345_678)
    assert arm.sim.collective_seconds(*args) == arm.sim.collective_seconds(*args, events=True)


def test_an_all_gather_on_a_ring_of_16_reaches_the_published_bandwidth() -> None:
    seconds = arm.sim.collective_seconds("v5e:8x16", "all-gather", 1 << 30, axes=[1])
    # Each of two directions carries (n - 1) / n of half the buffer; 42.75 GB/s is where the published curve ends.
    assert (1 << 30) * 15 / 16 / 2 / seconds == pytest.approx(42.75e9, rel=0.01)


def test_axes_wrap_by_rule() -> None:
    assert arm.sim.torus("v5e:8x16") == [(8, False), (16, True)]
    assert arm.sim.torus("v5p:4x4x8") == [(4, True), (4, True), (8, True)]


def test_one_chip_takes_no_time() -> None:
    assert arm.sim.collective_seconds("v6e:1x1", "all-reduce", 1 << 30) == 0
    assert arm.sim.collective_seconds("v1:1", "all-reduce", 1 << 30) == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("v5e", "all-gather", 1), "has no shape"),
        (("v9:2x2", "all-gather", 1), "there is no chip 'v9'"),
        (("v5e:4x", "all-gather", 1), "is no extent"),
        (("v5e:64x64", "all-gather", 1), "a pod of v5e is 16x16"),
        (("v5e:4x4", "broadcast", 1), "there is no collective 'broadcast'"),
        (("v5e:4x4", "all-gather", -1), "-1 bytes"),
        (("v5e:4x4", "all-gather", 1 << 63), "64 bits"),
        (("v5e:4x4", "all-gather", 1, [2]), "axis 2"),
        (("v5e:4x4", "all-gather", 1, [0, 0]), "axis 0 twice"),
        (("v5e:4x4", "all-gather", 1, [1 << 40]), "must be 0, 1 or 2"),
        (("v5e:4x4", "collective-permute", 1, [0, 1]), "one axis"),
        (("v5e:4x4", "collective-permute", 1, [0], 1 << 40), "shift"),
    ],
)
def test_bad_arguments_are_named(args: tuple, message: str) -> None:
    with pytest.raises(arm.UserError, match=message):
        arm.sim.collective_seconds(*args)


def test_a_shape_alone_needs_a_chip() -> None:
    v5e = arm.sim.chips()["v5e"]
    assert arm.sim.collective_seconds("4x4", "all-gather", 1, chip=v5e) > 0
    with pytest.raises(arm.UserError, match="no shape"):
        arm.sim.collective_seconds("4x4", "all-gather", 1)
