"""Python functions and foreign machine code that running programs call."""

import ctypes
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.experimental.buffer_callback import ExecutionStage, buffer_callback

from tests.jax.plugin import our_devices

our_devices()


def test_debug_print(capsys: pytest.CaptureFixture[str]) -> None:
    @jax.jit
    def f(x: jax.Array) -> jax.Array:
        jax.debug.print("x is {x}", x=x)
        jax.debug.print("in order {x}", x=x + 1, ordered=True)
        return x

    f(3.0)
    jax.effects_barrier()
    out = capsys.readouterr().out
    assert "x is 3.0" in out
    assert "in order 4.0" in out


def test_pure_callback() -> None:
    shape = jax.ShapeDtypeStruct((3,), jnp.float32)
    f = jax.jit(lambda x: jax.pure_callback(lambda a: np.sin(a), shape, x) + 1)
    assert np.allclose(f(jnp.ones(3)), np.sin(1) + 1)


def test_a_callback_may_compute() -> None:
    shape = jax.ShapeDtypeStruct((3,), jnp.float32)
    f = jax.jit(lambda x: jax.pure_callback(lambda a: jnp.cos(a) @ jnp.eye(3), shape, x))
    for _ in range(3):
        assert np.allclose(f(jnp.ones(3)), np.cos(1))


def test_effects_happen_in_order() -> None:
    seen: list[int] = []
    f = jax.jit(lambda x: io_callback(lambda a: seen.append(int(a)), None, x, ordered=True))
    for i in range(20):
        f(i)
    jax.effects_barrier()
    assert seen == list(range(20))


def test_what_a_callback_raises_reaches_the_user() -> None:
    def fails(_: object) -> object:
        raise ValueError("out of cheese")

    shape = jax.ShapeDtypeStruct((3,), jnp.float32)
    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: out of cheese"):
        jax.jit(lambda x: jax.pure_callback(fails, shape, x))(jnp.ones(3)).block_until_ready()
    assert float(jnp.ones(3).sum()) == 3  # and the device goes on


def test_callbacks_from_several_threads() -> None:
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    f = jax.jit(lambda x: jax.pure_callback(lambda a: np.float32(a + 1), shape, x))
    results: list[float] = []

    def work() -> None:
        results.extend(float(f(float(i))) for i in range(50))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(2 * [float(i + 1) for i in range(50)])


def test_callbacks_fill_buffers() -> None:
    def scale(context: Any, out: Any, x: Any, *, by: Any) -> None:
        assert context.stage == ExecutionStage.EXECUTE
        assert out.writeable and not x.writeable and x.shape == (4,) and x.dtype == np.float32
        np.asarray(out)[...] = np.asarray(x) * np.asarray(by)

    def accumulate(context: Any, out: Any, x: Any) -> None:
        assert np.shares_memory(np.asarray(out), np.asarray(x))
        np.asarray(out)[...] += 1

    shape = jax.ShapeDtypeStruct((4,), jnp.float32)
    x = jnp.arange(4.0)
    scaled = jax.jit(lambda x: buffer_callback(scale, shape)(x, by=jnp.float32(3)))(x)
    assert np.array_equal(scaled, 3 * np.arange(4))
    added = jax.jit(buffer_callback(accumulate, shape, input_output_aliases={0: 0}))(x)
    assert np.array_equal(added, 1 + np.arange(4)) and np.array_equal(x, np.arange(4))


def test_unknown_targets_are_named() -> None:
    call = jax.ffi.ffi_call("nobody_knows_this", jax.ShapeDtypeStruct((2,), jnp.float32))
    with pytest.raises(jax.errors.JaxRuntimeError, match="nobody_knows_this"):
        jax.jit(call)(jnp.ones(2))


class Buffer(ctypes.Structure):
    """XLA_FFI_Buffer"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p), ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]  # fmt: skip


class Arrays(ctypes.Structure):
    """XLA_FFI_Args, XLA_FFI_Rets"""

    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("size", ctypes.c_int64),
        ("types", ctypes.c_void_p), ("buffers", ctypes.POINTER(ctypes.POINTER(Buffer))),
    ]  # fmt: skip


class Span(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("size", ctypes.c_size_t)]


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.POINTER(ctypes.c_float))]


class Attributes(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("size", ctypes.c_int64),
        ("types", ctypes.POINTER(ctypes.c_int)), ("names", ctypes.POINTER(ctypes.POINTER(Span))),
        ("values", ctypes.POINTER(ctypes.POINTER(Scalar))),
    ]  # fmt: skip


class CallFrame(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("api", ctypes.c_void_p),
        ("context", ctypes.c_void_p), ("stage", ctypes.c_int), ("args", Arrays), ("rets", Arrays),
        ("attrs", Attributes), ("future", ctypes.c_void_p),
    ]  # fmt: skip


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CallFrame))
def scale(frame: "ctypes._Pointer[CallFrame]") -> None:
    """An FFI handler in machine code, as far as ctypes makes any: y = x * by."""
    call = frame.contents
    x, y = call.args.buffers[0].contents, call.rets.buffers[0].contents
    by = call.attrs.values[0].contents.value[0]
    count = x.dims[0]
    source = ctypes.cast(x.data, ctypes.POINTER(ctypes.c_float))
    target = ctypes.cast(y.data, ctypes.POINTER(ctypes.c_float))
    for i in range(count):
        target[i] = source[i] * by


def test_foreign_handlers_are_called() -> None:
    jax.ffi.register_ffi_target("armillary_test_scale", jax.ffi.pycapsule(scale), platform="cpu")
    call = jax.ffi.ffi_call("armillary_test_scale", jax.ShapeDtypeStruct((4,), jnp.float32))
    result = jax.jit(lambda x: call(x, by=np.float32(2.5)) + 1)(jnp.arange(4.0))
    assert np.array_equal(result, np.arange(4) * 2.5 + 1)


class Numbers(ctypes.Structure):
    _fields_ = [
        ("dtype", ctypes.c_int), ("size", ctypes.c_size_t), ("data", ctypes.POINTER(ctypes.c_float)),
    ]  # fmt: skip


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CallFrame))
def shift(frame: "ctypes._Pointer[CallFrame]") -> None:
    """y = x + by, where `by` is as long as x."""
    call = frame.contents
    x, y = call.args.buffers[0].contents, call.rets.buffers[0].contents
    by = ctypes.cast(call.attrs.values[0], ctypes.POINTER(Numbers)).contents
    source = ctypes.cast(x.data, ctypes.POINTER(ctypes.c_float))
    target = ctypes.cast(y.data, ctypes.POINTER(ctypes.c_float))
    for i in range(by.size):
        target[i] = source[i] + by.data[i]


@pytest.mark.parametrize("size", [1, 4, 1000])  # long ones arrive as bytes
def test_arrays_are_attributes_of_foreign_handlers(size: int) -> None:
    jax.ffi.register_ffi_target("armillary_test_shift", jax.ffi.pycapsule(shift), platform="cpu")
    call = jax.ffi.ffi_call("armillary_test_shift", jax.ShapeDtypeStruct((size,), jnp.float32))
    by = np.linspace(-1, 1, size, dtype=np.float32)
    assert np.array_equal(jax.jit(lambda x: call(x, by=by))(jnp.ones(size)), 1 + by)


Floats = "ctypes._Pointer[ctypes.c_float]"
FLOATS = ctypes.POINTER(ctypes.c_float)


@ctypes.CFUNCTYPE(None, FLOATS, ctypes.POINTER(FLOATS))
def twice(out: Floats, operands: "ctypes._Pointer[Floats]") -> None:
    """A handler of the oldest interface, which knows nothing of sizes."""
    for i in range(4):
        out[i] = 2 * operands[0][i]


@ctypes.CFUNCTYPE(
    None, FLOATS, ctypes.POINTER(FLOATS), ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
)  # fmt: skip
def fill(out: Floats, operands: "ctypes._Pointer[Floats]", opaque: int, size: int, status: int) -> None:
    """One of the last untyped interface: its bytes are what it writes."""
    for i, byte in enumerate(ctypes.string_at(opaque, size)):
        out[i] = byte


def register_untyped(name: str, function: Any) -> None:
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    handler = capsule(ctypes.cast(function, ctypes.c_void_p), b"xla._CUSTOM_CALL_TARGET", None)
    jax.ffi.register_ffi_target(name, handler, platform="cpu", api_version=0)


@pytest.mark.parametrize("version", [1, 2])  # the second may say that it failed
def test_untyped_handlers_are_called(version: int) -> None:
    register_untyped("armillary_test_twice", twice)
    shape = jax.ShapeDtypeStruct((4,), jnp.float32)
    call = jax.ffi.ffi_call("armillary_test_twice", shape, custom_call_api_version=version)
    assert np.array_equal(jax.jit(call)(jnp.arange(4.0)), 2 * np.arange(4))


def test_untyped_handlers_get_their_bytes() -> None:
    register_untyped("armillary_test_fill", fill)
    call = jax.ffi.ffi_call(
        "armillary_test_fill",
        jax.ShapeDtypeStruct((4,), jnp.float32),
        custom_call_api_version=3,
        legacy_backend_config='a"\\\n',
    )
    assert np.array_equal(jax.jit(call)(jnp.arange(4.0)), [ord(c) for c in 'a"\\\n'])


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CallFrame))
def copy_bytes(frame: "ctypes._Pointer[CallFrame]") -> None:
    """The memory of y is that of x."""
    call = frame.contents
    x, y = call.args.buffers[0].contents, call.rets.buffers[0].contents
    assert [x.dims[0], x.dims[1]] == [y.dims[0], y.dims[1]] == [3, 4]
    ctypes.memmove(y.data, x.data, 3 * 4 * 4)


@pytest.mark.parametrize("come", "CF")
@pytest.mark.parametrize("leave", "CF")
def test_foreign_handlers_find_arrays_in_the_layouts_they_ask_for(come: str, leave: str) -> None:
    jax.ffi.register_ffi_target("armillary_test_copy", jax.ffi.pycapsule(copy_bytes), platform="cpu")
    majors = {"C": (0, 1), "F": (1, 0)}
    call = jax.ffi.ffi_call(
        "armillary_test_copy",
        jax.ShapeDtypeStruct((3, 4), jnp.float32),
        input_layouts=[majors[come]],
        output_layouts=majors[leave],
    )
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    wanted = x.ravel(order=come).reshape(3, 4, order=leave)
    assert np.array_equal(jax.jit(call)(x), wanted)
    copied_again = jax.jit(lambda x: call(call(x)))(x)
    assert np.array_equal(copied_again, wanted.ravel(order=come).reshape(3, 4, order=leave))


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
@pytest.mark.parametrize("perturb", [False, True])
def test_tridiagonal_systems_with_several_right_hand_sides(dtype: type, perturb: bool) -> None:
    rng = np.random.default_rng(0)
    lower, diagonal, upper = (rng.normal(size=(2, 5)).astype(dtype) for _ in range(3))
    lower[:, 0] = upper[:, -1] = 0
    b = rng.normal(size=(2, 5, 3)).astype(dtype)
    x = jax.lax.linalg.tridiagonal_solve(lower, 4 + diagonal, upper, b, perturb_singular=perturb)
    product = (4 + diagonal)[..., None] * x
    product = product.at[:, 1:].add(lower[:, 1:, None] * x[:, :-1])
    product = product.at[:, :-1].add(upper[:, :-1, None] * x[:, 1:])
    np.testing.assert_allclose(product, b, atol=1e-5)
