"""rng: the distribution on both targets, in every type; what is drawn next is different."""

import armillary as arm
import ml_dtypes
import numpy as np
import pytest

SIZE = 20000
TARGETS = ["interp", "cpu"]
INTEGERS = ["s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"]
FLOATS = ["bf16", "f16", "f32", "f64"]


def program(kind: str, dtype: str, a: object, b: object, dims: str = f"{SIZE}") -> str:
    return f"""HloModule m

ENTRY main {{
  a = {dtype}[] constant({a})
  b = {dtype}[] constant({b})
  ROOT r = {dtype}[{dims}] rng(a, b), distribution=rng_{kind}
}}"""


def draw(target: str, *of: object) -> np.ndarray:
    return np.asarray(arm.compile(program(*of), target=target)()).astype(np.float64)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_uniform_below_the_bound(target: str, dtype: str) -> None:
    low = -5 if dtype[0] == "s" else 3
    values, counts = np.unique(draw(target, "uniform", dtype, low, low + 10), return_counts=True)
    assert values.tolist() == list(range(low, low + 10))
    assert abs(counts / SIZE - 0.1).max() < 0.012  # five deviations


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_uniform_below_the_bound(target: str, dtype: str) -> None:
    x = draw(target, "uniform", dtype, -1, 3)
    assert x.min() >= -1 and x.max() < 3
    counts, _ = np.histogram(x, 10, (-1, 3))
    assert abs(counts / SIZE - 0.1).max() < 0.012


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_numbers_have_their_moments(target: str, dtype: str) -> None:
    x = (draw(target, "normal", dtype, 2, 0.5) - 2) / 0.5
    moments = [np.mean(x**n) for n in range(1, 5)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.4)
    assert abs(moments[0]) < 0.05 and abs(moments[1] - 1) < 0.08


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dims", ["", "0", "3,0,2", "1", "7,3"])
def test_shapes(target: str, dims: str) -> None:
    result = arm.compile(program("uniform", "f32", 1, 1, dims), target=target)()
    assert np.all(np.asarray(result) == 1)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_an_empty_range_gives_its_start(dtype: str) -> None:
    assert np.all(draw("cpu", "uniform", dtype, 4, 4) == 4)


def test_no_two_draws_are_alike() -> None:
    run = arm.compile(
        """HloModule m

ENTRY main {
  a = f32[] constant(0)
  b = f32[] constant(1)
  x = f32[64] rng(a, b), distribution=rng_uniform
  y = f32[64] rng(a, b), distribution=rng_uniform
  ROOT r = (f32[64], f32[64]) tuple(x, y)
}"""
    )
    drawn = [bytes(np.asarray(x)) for _ in range(3) for x in run()]
    assert len(set(drawn)) == 6


def test_narrow_floats_stay_below_the_bound() -> None:
    x = np.asarray(arm.compile(program("uniform", "bf16", 1, 1.0078125))())
    assert x.dtype == ml_dtypes.bfloat16 and np.all(x == 1)  # the next bf16 is the bound


def test_partitions_do_not_draw_each_their_own() -> None:
    text = program("uniform", "f32", 0, 1).replace("HloModule m", "HloModule m, num_partitions=2")
    with pytest.raises(arm.UnsupportedError, match="disagree"):
        arm.compile(text)
