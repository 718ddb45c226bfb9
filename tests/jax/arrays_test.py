"""Arrays in and out of our devices: every type, any strides, without a copy where memory allows it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.jax.plugin import our_devices

TYPES = [
    "bool", "int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32",
    "float4_e2m1fn", "float8_e4m3fn", "float8_e5m2", "float8_e3m4", "float16", "bfloat16", "float32", "complex64",
]  # fmt: skip


def aligned(count: int) -> np.ndarray:
    """Floats at an address that XLA would share."""
    raw = np.empty(4 * count + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + 4 * count].view(np.float32)


def test_the_devices_are_ours() -> None:
    devices = our_devices()
    assert [d.id for d in devices] == [0, 1, 2, 3]
    assert [m.kind for m in devices[0].addressable_memories()] == ["device", "pinned_host", "unpinned_host"]
    assert devices[0].memory_stats()["bytes_in_use"] >= 0


@pytest.mark.parametrize("name", TYPES)
def test_every_element_type_goes_in_and_out(name: str) -> None:
    values = np.arange(-3, 5).astype(jnp.dtype(name))
    array = jnp.asarray(values)
    assert np.array_equal(np.asarray(array), values)
    assert np.array_equal(np.asarray(jax.jit(lambda x: x[::-1])(array)), values[::-1])


def views() -> list[np.ndarray]:
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    return [
        a.T, a[::-1], a[:, ::2], a[..., 1:3], np.broadcast_to(a[:1], (5, 3, 4)), a[:0], a[::-1, ::-1, ::-1].T,
        np.float32(3).reshape(()),
    ]  # fmt: skip


@pytest.mark.parametrize("view", views(), ids=lambda v: f"{v.shape}{v.strides}")
def test_any_strides_are_read(view: np.ndarray) -> None:
    assert np.array_equal(np.asarray(jnp.asarray(view)), view)
    assert np.array_equal(np.asarray(jax.jit(lambda x: x + 1)(view)), view + 1)


def test_aligned_arrays_are_shared_both_ways() -> None:
    values = aligned(1000)
    values[:] = 3
    array = jax.device_put(values)
    assert array.unsafe_buffer_pointer() == values.ctypes.data
    assert np.asarray(array).ctypes.data == values.ctypes.data


def test_donated_arrays_are_gone_and_their_memory_is_used_again() -> None:
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.ones(1000)
    address = x.unsafe_buffer_pointer()
    y = step(x)
    assert x.is_deleted()
    assert y.unsafe_buffer_pointer() == address
    with pytest.raises(RuntimeError, match="deleted"):
        x + 1


def test_donation_spares_memory_that_others_look_at() -> None:
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.ones(1000)
    seen = np.asarray(x)
    copy = jax.device_put(x, our_devices()[1])
    y = step(x)
    assert (seen == 1).all()
    assert (np.asarray(copy) == 1).all()
    assert (np.asarray(y) == 2).all()
    host = aligned(1000)
    host[:] = 1
    step(jax.device_put(host)).block_until_ready()
    assert (host == 1).all()


def test_dispatch_does_not_wait() -> None:
    a = jnp.ones((1000, 1000))
    chain = jax.jit(lambda a: a @ a @ a @ a)
    chain(a).block_until_ready()
    result = chain(a)
    assert not result.is_ready()
    assert float(result[0, 0]) == 1e9


def test_empty_arrays_are_arrays() -> None:
    assert jnp.zeros((0, 3)).sum() == 0
    assert jax.jit(lambda: jnp.zeros((0,)))().shape == (0,)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8", "bool", "complex64"])
def test_dlpack_shares_memory_both_ways(name: str) -> None:
    array = jnp.arange(6).astype(name)
    back = jax.dlpack.from_dlpack(array)
    assert np.array_equal(np.asarray(back), np.asarray(array))
    assert back.unsafe_buffer_pointer() == array.unsafe_buffer_pointer()


def test_dlpack_with_numpy() -> None:
    array = jnp.arange(6.0)
    assert np.from_dlpack(array).ctypes.data == array.unsafe_buffer_pointer()
    turned = np.arange(6, dtype=np.float32).reshape(2, 3).T
    assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(turned)), turned)


@pytest.mark.parametrize("copy", [None, True, False])
def test_what_dlpack_is_asked_to_copy_is_copied(copy: bool | None) -> None:
    memory = np.zeros(32, np.float32)
    begin = -(memory.ctypes.data // 4) % 16
    source = memory[begin : begin + 6].reshape(2, 3)
    taken = jnp.from_dlpack(source, copy=copy)
    source[...] = 7
    assert np.array_equal(np.asarray(taken), np.full((2, 3), 0 if copy else 7))


def test_memory_kinds() -> None:
    device = our_devices()[0]
    pinned = jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
    array = jax.device_put(jnp.ones(3), pinned)
    assert array.sharding.memory_kind == "pinned_host"
    assert jax.jit(lambda x: x + 1, out_shardings=pinned)(jnp.ones(3)).sharding.memory_kind == "pinned_host"
    back = jax.device_put(array, jax.sharding.SingleDeviceSharding(device, memory_kind="device"))
    assert back.sharding.memory_kind == "device"
