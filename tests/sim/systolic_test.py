"""Cycles of a systolic array: SCALE-Sim's counts, a TPU's way, and the grid itself."""

import time

import armillary as arm
import ml_dtypes
import numpy as np
import pytest

# Cycles that SCALE-Sim 3.0.0 reports without memory stalls for a 128 x 128 array: M, N, K, then ws, os, is. From runs
# of it, or of its demand matrices alone where a run takes hours.
SCALESIM = [
    (128, 128, 128, 509, 381, 509),
    (256, 256, 256, 2551, 2039, 2551),
    (512, 512, 512, 14303, 12255, 14303),
    (100, 200, 300, 2891, 1107, 1745),
    (1, 128, 128, 382, 381, 509),
    (129, 129, 129, 2043, 1531, 2043),
    (64, 64, 64, 445, 317, 445),
    (1, 1024, 1024, 24511, 10223, 11247),
    (1, 4096, 4096, 392191, 139199, 143295),
    (1024, 128, 128, 1405, 3055, 4079),
    (128, 1024, 128, 4079, 3055, 1405),
    (128, 128, 1024, 4079, 1277, 4079),
    (1024, 1024, 1024, 89983, 81791, 89983),
    (8192, 1024, 512, 274367, 392191, 359935),
    (2048, 2048, 2048, 622079, 589311, 622079),
]
FLOWS = ["ws", "os", "is"]


@pytest.mark.parametrize(("m", "n", "k", "ws", "os", "is_"), SCALESIM)
def test_scalesim_mode_gives_the_counts_that_scalesim_reports(
    m: int, n: int, k: int, ws: int, os: int, is_: int
) -> None:
    counts = [arm.sim.systolic_cycles(m, n, k, dataflow=flow, mode="scalesim") for flow in FLOWS]
    assert counts == [ws, os, is_]


def test_a_large_product_is_counted_ten_thousand_times_faster_than_scalesim_does() -> None:
    start = time.perf_counter()
    for _ in range(100):
        arm.sim.systolic_cycles(1024, 1024, 1024, mode="scalesim")
    seconds = (time.perf_counter() - start) / 100
    assert seconds < 119.76 / 10_000  # SCALE-Sim's own run took 119.76 s on a common machine


@pytest.mark.parametrize("flow", FLOWS)
def test_the_grid_takes_one_cycle_more_than_scalesim_and_shifts_resting_sums_out(flow: str) -> None:
    args = {"rows": 8, "cols": 4, "dataflow": flow}
    tiles = 2 * 3  # 16 rows of C on 8, 12 columns on 4
    shifting = tiles * 7 if flow == "os" else 0
    grid = arm.sim.systolic_cycles(16, 12, 20, mode="grid", **args)
    assert grid == arm.sim.systolic_cycles(16, 12, 20, mode="scalesim", **args) + 1 + shifting


def test_a_tpu_hides_weights_fill_and_drain_behind_long_streams() -> None:
    tiles = 8 * 4
    cycles = arm.sim.systolic_cycles(8192, 1024, 512, mode="tpu")
    assert cycles == tiles * 8192 + 128 + 127 + 127
    assert cycles < arm.sim.systolic_cycles(8192, 1024, 512, mode="scalesim")


@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("overlap", [False, True])
def test_values_computed_in_the_array_are_right(flow: str, overlap: bool) -> None:
    random = np.random.default_rng(7)
    a, b = random.normal(size=(9, 14)), random.normal(size=(14, 11))
    mode = "tpu" if overlap else "grid"
    for dtype, tolerance in [(np.float32, 1e-5), (ml_dtypes.bfloat16, 1e-5)]:
        x, y = a.astype(dtype), b.astype(dtype)
        value, took = arm.sim.systolic_matmul(x, y, 4, 5, flow, overlap)
        np.testing.assert_allclose(value, x.astype(np.float64) @ y.astype(np.float64), atol=tolerance)
        assert value.dtype == np.float32
        assert took == arm.sim.systolic_cycles(9, 11, 14, 4, 5, flow, mode)
    x, y = (a * 40).astype(np.int8), (b * 40).astype(np.int8)
    value, _ = arm.sim.systolic_matmul(x, y, 4, 5, flow, overlap)
    np.testing.assert_array_equal(value, x.astype(np.int32) @ y.astype(np.int32))


def test_views_and_transposes_are_read_as_they_are() -> None:
    a = np.arange(12, dtype=np.int8).reshape(3, 4)
    value, _ = arm.sim.systolic_matmul(a.T, a[:, ::2], 2, 2)
    np.testing.assert_array_equal(value, a.T.astype(np.int32) @ a[:, ::2].astype(np.int32))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"M": 0}, "M is 0"),
        ({"K": -3}, "K is -3"),
        ({"N": 1 << 70}, "does not fit 64 bits"),
        ({"M": 1 << 40, "N": 1 << 40, "K": 1 << 40}, "64 bits"),
        ({"rows": 0}, "rows is 0"),
        ({"M": 2.5}, "whole number"),
        ({"dataflow": "rs"}, "must be ws, os or is"),
        ({"mode": "fast"}, "must be scalesim, tpu or grid"),
    ],
)
def test_bad_arguments_are_named(args: dict, message: str) -> None:
    with pytest.raises(arm.UserError, match=message):
        arm.sim.systolic_cycles(**{"M": 8, "N": 8, "K": 8, **args})


def test_a_grid_beyond_reach_is_refused() -> None:
    with pytest.raises(arm.ResourceError, match="mode tpu or scalesim"):
        arm.sim.systolic_cycles(8192, 8192, 8192, mode="grid")


def test_matrices_that_do_not_fit_are_refused() -> None:
    a = np.zeros((2, 3), np.float32)
    with pytest.raises(arm.UserError, match="inner extents differ"):
        arm.sim.systolic_matmul(a, a)
    with pytest.raises(arm.UserError, match="float64"):
        arm.sim.systolic_matmul(a.astype(np.float64), a.astype(np.float64))
    with pytest.raises(arm.UserError, match="one type"):
        arm.sim.systolic_matmul(a, a.T.astype(np.int8))
