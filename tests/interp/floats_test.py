"""Every encoding of every narrow float, and the rounding between them, against ml_dtypes."""

import armillary as arm
import ml_dtypes
import numpy as np
import pytest

FORMATS = {
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
}
FORMAT = pytest.mark.parametrize("name", FORMATS)


def container(name):
    """The unsigned type that holds an encoding, and how many encodings there are."""
    bits = 4 if name.startswith("f4") else 8 if name.startswith("f8") else 16
    return (np.uint16 if bits == 16 else np.uint8), 2**bits


def decode(name):
    """All encodings as f64, by the interpreter."""
    unsigned, count = container(name)
    wide = f"u{8 * np.dtype(unsigned).itemsize}"
    narrow = "u4" if count == 16 else wide
    text = f"""ENTRY e {{ b = {wide}[{count}] parameter(0) n = {narrow}[{count}] convert(b)
        f = {name}[{count}] bitcast-convert(n) ROOT r = f64[{count}] convert(f) }}"""
    return arm.evaluate(text, np.arange(count, dtype=unsigned))


def encode(name, values):
    """The bits of f32 values rounded to the format, by the interpreter."""
    unsigned, count = container(name)
    n, wide = len(values), f"u{8 * np.dtype(unsigned).itemsize}"
    narrow = "u4" if count == 16 else wide
    text = f"""ENTRY e {{ x = f32[{n}] parameter(0) f = {name}[{n}] convert(x)
        b = {narrow}[{n}] bitcast-convert(f) ROOT r = {wide}[{n}] convert(b) }}"""
    return arm.evaluate(text, values)


@FORMAT
@pytest.mark.filterwarnings("ignore:invalid value")
def test_every_encoding_has_the_value_that_ml_dtypes_gives_it(name):
    unsigned, count = container(name)
    want = np.arange(count, dtype=unsigned).view(FORMATS[name]).astype(np.float64)
    np.testing.assert_array_equal(decode(name), want)


@FORMAT
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.filterwarnings("ignore:invalid value")
def test_rounding_agrees_with_ml_dtypes_at_and_beside_every_tie(name):
    unsigned, _ = container(name)
    values = decode(name)
    finite = np.unique(values[np.isfinite(values)])
    ties = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
    rng = np.random.default_rng(0)
    probes = np.concatenate(
        [
            finite.astype(np.float32),
            ties,
            np.nextafter(ties, np.float32(np.inf)),
            np.nextafter(ties, np.float32(-np.inf)),
            rng.normal(size=1000).astype(np.float32),
            (10.0 ** rng.uniform(-38, 38, 1000) * rng.choice([-1, 1], 1000)).astype(np.float32),
            np.float32(
                [np.inf, -np.inf, 0.0, -0.0, np.nan, 1.5 * finite[-1], 3 * finite[-1], -3 * finite[-1]]
            ),
        ]
    )
    if name == "f8e8m0fnu":  # ml_dtypes rounds f32's own denormals twice
        probes = probes[~(np.abs(probes) < 2.0**-126)]
    want = probes.astype(FORMATS[name]).view(unsigned)
    np.testing.assert_array_equal(encode(name, probes), want)
