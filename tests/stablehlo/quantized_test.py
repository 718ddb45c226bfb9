"""Quantized values are the integers they are stored as; the expected numbers are computed here, by the specification."""

import armillary as arm
import numpy as np
import pytest

Q = "!quant.uniform<i8:f32, 0.5:-3>"
UNSIGNED = "!quant.uniform<u8<1:200>:f32, 0.25:128>"
PER_AXIS = "!quant.uniform<i8:f32:1, {0.5:-3, 0.25:7}>"
PER_ROW = "!quant.uniform<i8:f32:0, {0.5:-3, 0.25:7}>"
OTHER = "!quant.uniform<i8:f32, 0.25:1>"
WIDE = "!quant.uniform<i32:f32, 0.5:5>"
Array = np.ndarray


def stored(x: Array, scale: Array | float, zero: Array | int, low: int = -128, high: int = 127) -> Array:
    return np.rint(np.clip(x / np.float32(scale) + np.float32(zero), low, high)).astype(np.int32)


def floats(q: Array, scale: Array | float, zero: Array | int) -> Array:
    return (q.astype(np.int64) - zero).astype(np.float32) * np.float32(scale)


def run(arguments: str, result: str, body: str, *values: Array) -> Array:
    text = f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %r : {result} }}"
    return np.asarray(arm.evaluate(arm.load(text), *values))


X = np.float32([[-70, -0.25, 0.25, 0.75], [1.25, 63, 64, 1e9]])


@pytest.mark.parametrize(
    ("kind", "dtype", "numbers"),
    [(Q, np.int8, (0.5, -3)), (UNSIGNED, np.uint8, (0.25, 128, 1, 200))],
)
def test_floats_become_integers_and_back(kind: str, dtype: type, numbers: tuple) -> None:
    body = f"%r = stablehlo.uniform_quantize %x : (tensor<2x4xf32>) -> tensor<2x4x{kind}>"
    q = run("%x: tensor<2x4xf32>", f"tensor<2x4x{kind}>", body, X)
    assert q.dtype == dtype
    np.testing.assert_array_equal(q, stored(X, *numbers))
    body = f"%r = stablehlo.uniform_dequantize %q : (tensor<2x4x{kind}>) -> tensor<2x4xf32>"
    x = run(f"%q: tensor<2x4x{kind}>", "tensor<2x4xf32>", body, q)
    np.testing.assert_array_equal(x, floats(q, *numbers[:2]))


def test_each_slice_along_the_axis_has_its_numbers() -> None:
    x = np.float32([[1, 1], [-3, -3], [100, 100]])
    body = f"%r = stablehlo.uniform_quantize %x : (tensor<3x2xf32>) -> tensor<3x2x{PER_AXIS}>"
    q = run("%x: tensor<3x2xf32>", f"tensor<3x2x{PER_AXIS}>", body, x)
    np.testing.assert_array_equal(q, stored(x, np.float32([0.5, 0.25]), np.array([-3, 7])))
    body = f"""%t = stablehlo.transpose %q, dims = [1, 0] : (tensor<3x2x{PER_AXIS}>) -> tensor<2x3x{PER_ROW}>
        %r = stablehlo.uniform_dequantize %t : (tensor<2x3x{PER_ROW}>) -> tensor<2x3xf32>"""
    back = run(f"%q: tensor<3x2x{PER_AXIS}>", "tensor<2x3xf32>", body, q)
    np.testing.assert_array_equal(back, floats(q, np.float32([0.5, 0.25]), np.array([-3, 7])).T)


def test_quantized_values_are_quantized_anew() -> None:
    q = np.arange(-128, 128, 37, dtype=np.int8)
    body = f"%r = stablehlo.uniform_quantize %q : (tensor<7x{Q}>) -> tensor<7x{UNSIGNED}>"
    r = run(f"%q: tensor<7x{Q}>", f"tensor<7x{UNSIGNED}>", body, q)
    np.testing.assert_array_equal(r, stored(floats(q, 0.5, -3), 0.25, 128, 1, 200))


def test_arithmetic_is_that_of_the_floats() -> None:
    a, b = np.int8([-128, 127, 5, -3]), np.int8([127, 127, -9, 1])
    body = f"%r = stablehlo.add %a, %b : (tensor<4x{Q}>, tensor<4x{OTHER}>) -> tensor<4x{Q}>"
    r = run(f"%a: tensor<4x{Q}>, %b: tensor<4x{OTHER}>", f"tensor<4x{Q}>", body, a, b)
    np.testing.assert_array_equal(r, stored(floats(a, 0.5, -3) + floats(b, 0.25, 1), 0.5, -3))


def test_zero_points_never_wrap() -> None:
    q = np.int32([2**31 - 1, -(2**31), 7, 5])
    body = f"%r = stablehlo.uniform_dequantize %q : (tensor<4x{WIDE}>) -> tensor<4xf32>"
    x = run(f"%q: tensor<4x{WIDE}>", "tensor<4xf32>", body, q)
    np.testing.assert_array_equal(x, floats(q, 0.5, 5))


def test_regions_over_quantized_values() -> None:
    q = np.int8([5, 7, -9, 100])
    body = f"""%z = "stablehlo.constant"() <{{value = dense<-3> : tensor<i8>}}> : () -> tensor<{Q}>
        %r = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [0]
            : (tensor<4x{Q}>, tensor<{Q}>) -> tensor<{Q}>"""
    r = run(f"%q: tensor<4x{Q}>", f"tensor<{Q}>", body, q)
    np.testing.assert_array_equal(r, stored(floats(q, 0.5, -3).sum(), 0.5, -3))


def test_a_region_over_other_values_is_refused() -> None:
    text = f"""func.func @main(%q: tensor<4x{Q}>, %z: tensor<{WIDE}>) -> tensor<{WIDE}> {{
        %r = "stablehlo.reduce"(%q, %z) <{{dimensions = array<i64: 0>}}> ({{
          ^bb0(%a: tensor<{WIDE}>, %b: tensor<{WIDE}>):
            %s = stablehlo.add %a, %b : tensor<{WIDE}>
            stablehlo.return %s : tensor<{WIDE}>
        }}) : (tensor<4x{Q}>, tensor<{WIDE}>) -> tensor<{WIDE}>
        return %r : tensor<{WIDE}> }}"""
    with pytest.raises(arm.UnsupportedError, match="several quantized types"):
        arm.load(text)
