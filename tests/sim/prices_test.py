"""Single products and copies on one device, against what has been published."""

import armillary as arm
import pytest

# tpu-recipes microbenchmarks: the rows that the chips' constants are fitted on.
MATMULS = [
    ("v7x", 256, 18.286e12),
    ("v7x", 1024, 349.727e12),
    ("v7x", 4096, 892.945e12),
    ("v7x", 32768, 956.382e12),
    ("v6e", 8192, 827.5e12),
]
COPIES = [
    ("v7x", 4194304, 2249.7e9),
    ("v7x", 33554432, 3009.8e9),
    ("v7x", 8589934592, 3210.5e9),
    ("v6e", 33554432, 1359.6e9),
]
ALL_GATHERS = [(1 << 20, 21.9e-6), (1 << 28, 2252.3e-6)]


def errors() -> list[float]:
    matmuls = [abs(arm.sim.matmul_seconds(c, n, n, n) * f / (2 * n**3) - 1) for c, n, f in MATMULS]
    copies = [abs(arm.sim.copy_seconds(c, size) * speed / (2 * size) - 1) for c, size, speed in COPIES]
    return matmuls + copies


def test_fitted_rows_come_back_within_ten_percent() -> None:
    assert max(errors()) < 0.1
    assert sum(errors()) / len(errors()) < 0.05


@pytest.mark.parametrize(("size", "seconds"), ALL_GATHERS)
def test_both_ends_of_the_all_gather_curve_come_back(size: int, seconds: float) -> None:
    assert arm.sim.collective_seconds("v7x:2x2x1", "all-gather", size) == pytest.approx(seconds, rel=0.01)


def test_between_its_ends_the_all_gather_curve_is_latency_and_bandwidth() -> None:
    (small, first), (large, last) = ALL_GATHERS
    slope = (last - first) / (large - small)
    for exponent in range(21, 28):
        expected = first + slope * ((1 << exponent) - small)
        got = arm.sim.collective_seconds("v7x:2x2x1", "all-gather", 1 << exponent)
        assert got == pytest.approx(expected, rel=0.02)


def test_copies_are_the_faster_the_larger_they_are() -> None:
    speeds = [2 * (1 << e) / arm.sim.copy_seconds("v7x", 1 << e) for e in range(12, 34)]
    assert speeds == sorted(speeds)
    assert speeds[0] < 0.01 * speeds[-1]
    assert speeds[-1] == pytest.approx(7380e9 / 2 * 0.87, rel=0.001)


def test_an_all_reduce_that_nothing_is_fitted_on() -> None:
    assert arm.sim.collective_seconds("v7x:2x2x2", "all-reduce", 4 << 30) == pytest.approx(0.0538, rel=0.1)


def test_fitted_constants_name_their_prior_and_are_few() -> None:
    for chip in arm.sim.chips().values():
        fitted = {k: c for k, c in chip.constants.items() if c.source.startswith("fitted")}
        assert len(fitted) <= 6
        assert all(c.prior is not None and "prior" in c.source for c in fitted.values())
        assert all(c.prior is None for k, c in chip.constants.items() if k not in fitted)
    assert len([c for c in arm.sim.chips()["v7x"].constants.values() if c.prior is not None]) == 6


def test_padding_costs_what_it_fills() -> None:
    seconds = arm.sim.matmul_seconds
    assert seconds("v5e", 8192, 8192, 129) == seconds("v5e", 8192, 8192, 256)
    assert seconds("v5e", 1, 4096, 4096) == seconds("v5e", 16, 4096, 4096)


def test_precision_and_types_cost_what_the_units_say() -> None:
    def seconds(*args: str, **kwargs: str) -> float:
        return arm.sim.matmul_seconds("v6e", 16384, 16384, 16384, *args, **kwargs)

    assert seconds(precision="highest") / seconds() == pytest.approx(6, rel=0.1)
    assert seconds(precision="high") / seconds() == pytest.approx(3, rel=0.1)
    assert seconds("s8") / seconds() == pytest.approx(0.5, rel=0.1)
    assert seconds("f32") > seconds()


def test_copies_to_vmem_move_each_byte_once() -> None:
    both, one = (arm.sim.copy_seconds("v6e", 1 << 30, target=space) for space in ("hbm", "vmem"))
    assert both / one == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arm.sim.matmul_seconds("v9", 1, 1, 1), "there is no chip 'v9'"),
        (lambda: arm.sim.matmul_seconds("v6e", 0, 1, 1), "extents must be from 1"),
        (lambda: arm.sim.matmul_seconds("v6e", 1 << 31, 1 << 31, 1 << 31), "can be simulated"),
        (lambda: arm.sim.matmul_seconds("v6e", 1, 1, 1, "c64"), "'c64' is no type"),
        (lambda: arm.sim.matmul_seconds("v6e", 1, 1, 1, precision="low"), "precision"),
        (lambda: arm.sim.copy_seconds("v6e", -1), "cannot be negative"),
        (lambda: arm.sim.copy_seconds("v6e", 1, "disk"), "must be hbm or vmem"),
        (lambda: arm.sim.copy_seconds("v6e", 1 << 62), "can be simulated"),
    ],
)
def test_bad_arguments_are_named(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(arm.UserError, match=message):
        call()
