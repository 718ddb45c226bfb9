"""Elementwise ops on edge values in every real dtype, against XLA:CPU."""

import jax.numpy as jnp
import numpy as np
import pytest
from against_xla import both
from jax import lax

EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    3.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-3,
    -2.5,
    7.5,
    100.0,
    1e4,
    -1e4,
    0.1,
    -0.3,
]
EDGES += [1e-7, 88.0, -88.0, 6.5e4, 1.5, 2.5, -0.5, 3.1415927]
UNARY = "neg abs sign floor ceil exp expm1 log log1p sqrt rsqrt cbrt sin cos tan tanh logistic erf asin acos atan sinh cosh"
UNARY = (UNARY + " asinh acosh atanh is_finite").split()
BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "pow",
    "atan2",
    "nextafter",
    "lt",
    "ge",
    "eq",
    "ne",
]
FLOATS = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 3e-6, "float64": 1e-13}
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
INTEGER_UNARY = ["neg", "sign", "population_count", "clz", "bitwise_not"]
INTEGER_BINARY = [
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "shift_left",
    "shift_right_logical",
]
INTEGER_BINARY += ["shift_right_arithmetic", "lt", "ge", "eq"]
TARGETS = [
    "bool",
    "int4",
    "int8",
    "uint8",
    "int32",
    "uint64",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "bfloat16",
    "float32",
    "float64",
]


def assert_close(want, got, tolerance):
    """Within a relative tolerance; zeros keep their sign. XLA's functions flush what is below the least normal f32, ours keep it."""
    if want.dtype.kind in "iub" or tolerance == 0:
        np.testing.assert_array_equal(got.astype(np.float64), want.astype(np.float64))
        return
    least = 0 if want.dtype == np.float64 else np.finfo(np.float32).tiny
    want, got = want.astype(np.float64), got.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=least, equal_nan=True)
    zero = (want == 0) & (got == 0)
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


def check_all(names, arguments, tolerance):
    """All of lax's functions of these names, as one program: XLA's compilations are what takes time here."""
    for want, got in zip(
        *both(lambda *x: [getattr(lax, name)(*x) for name in names], *arguments), strict=True
    ):
        assert_close(want, got, tolerance)


def integers(dtype):
    limits = np.iinfo(dtype)
    values = [0, 1, 2, 3, 5, 7, 100, limits.max, limits.max - 1, limits.min, limits.min + 1]
    return np.array(values + ([-1, -2, -7] if limits.min < 0 else []), dtype)


def pairs(values):
    return np.meshgrid(values, values, indexing="ij")


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_functions_of_one_number(dtype):
    check_all(UNARY, [jnp.asarray(np.array(EDGES)).astype(dtype)], FLOATS[dtype])


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_functions_of_two_numbers(dtype):
    check_all(BINARY, [jnp.asarray(v).astype(dtype) for v in pairs(np.array(EDGES))], FLOATS[dtype])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_functions(dtype):
    values = integers(dtype)
    check_all(INTEGER_UNARY, [values], 0)
    check_all(INTEGER_BINARY, pairs(values), 0)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_conversions_saturate_wrap_and_round_as_xla_does(dtype):
    x = jnp.asarray(np.array(EDGES)).astype(dtype) if dtype in FLOATS else jnp.asarray(integers(dtype))
    for want, got in zip(*both(lambda a: [lax.convert_element_type(a, t) for t in TARGETS], x), strict=True):
        assert_close(want, got, 0)
