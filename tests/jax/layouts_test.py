"""Arrays in other layouts than row-major: they read as any array does, wherever they go."""

import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.experimental import serialize_executable
from jax.experimental.layout import Format, Layout, with_layout_constraint
from jax.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding

from tests.jax.plugin import our_devices

ORDERS = list(itertools.permutations(range(3)))
VALUES = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
MATRIX = np.arange(128, dtype=np.float32).reshape(8, 16)
TURNED = (1, 0)
SPECS = [PartitionSpec("a", "b"), PartitionSpec("b"), PartitionSpec(None, "a"), PartitionSpec()]


def on_one(order: tuple[int, ...]) -> Format:
    return Format(Layout(order), SingleDeviceSharding(our_devices()[0]))


def on_four(order: tuple[int, ...], spec: PartitionSpec) -> Format:
    return Format(Layout(order), NamedSharding(jax.make_mesh((2, 2), ("a", "b")), spec))


def order_of(array: jax.Array) -> tuple[int, ...]:
    order: tuple[int, ...] = array.format.layout.major_to_minor
    return order


def memory(array: jax.Array) -> list[float]:
    """The elements as they lie."""
    count = math.prod(array.shape)
    floats = np.ctypeslib.ctypes.c_float * count
    return list(floats.from_address(array.unsafe_buffer_pointer()))


@pytest.mark.parametrize("order", ORDERS)
def test_an_array_lies_as_asked_and_reads_as_ever(order: tuple[int, ...]) -> None:
    array = jax.device_put(VALUES, on_one(order))
    assert order_of(array) == order
    assert memory(array.block_until_ready()) == list(VALUES.transpose(order).ravel())
    assert np.array_equal(array, VALUES)
    assert str(array) == str(VALUES) and array.tolist() == VALUES.tolist()
    assert np.array_equal(array[1:, 2], VALUES[1:, 2]) and array[2, 1, 3] == VALUES[2, 1, 3]
    assert all(map(np.array_equal, array, VALUES))
    assert np.array_equal(np.from_dlpack(array), VALUES)
    assert np.array_equal(jax.dlpack.from_dlpack(array), VALUES)
    assert np.array_equal(array.copy(), VALUES)
    assert np.array_equal(array + 1, VALUES + 1)


@pytest.mark.parametrize("name", ["bool", "int4", "uint2", "bfloat16", "float8_e4m3fn", "complex64"])
@pytest.mark.parametrize("order", ORDERS)
def test_elements_of_any_size_do(name: str, order: tuple[int, ...]) -> None:
    values = (VALUES % 3).astype(jnp.dtype(name))
    array = jax.device_put(values, on_one(order))
    assert order_of(array) == order
    assert np.array_equal(array, values)
    assert np.array_equal(np.asarray(array[1]), values[1])
    assert order_of(jax.device_put(values, array.format)) == order


@pytest.mark.parametrize("shape", [(1, 8), (8, 1), (1, 1), (0, 4)])
def test_small_and_empty_ones_too(shape: tuple[int, int]) -> None:
    values = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    array = jax.device_put(values, on_one(TURNED))
    assert order_of(array) == TURNED
    assert np.array_equal(array, values) and np.array_equal(array + 1, values + 1)


@pytest.mark.parametrize("donate", [False, True])
@pytest.mark.parametrize("leave", ORDERS)
@pytest.mark.parametrize("come", ORDERS)
def test_programs_take_and_give_what_was_asked(
    come: tuple[int, ...], leave: tuple[int, ...], donate: bool
) -> None:
    def both(x: Any) -> Any:
        return x.transpose(1, 2, 0) * 2, x + 1

    shardings = (on_one(leave), on_one(leave))
    program = jax.jit(both, out_shardings=shardings, donate_argnums=0 if donate else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a donated array could not be used
        turned, more = program(jax.device_put(VALUES, on_one(come)))
    assert order_of(turned) == order_of(more) == leave
    assert np.array_equal(turned, VALUES.transpose(1, 2, 0) * 2) and np.array_equal(more, VALUES + 1)


@pytest.mark.parametrize("order", [TURNED, (0, 1)])
@pytest.mark.parametrize("spec", SPECS)
def test_tiles_lie_as_the_whole_would(spec: PartitionSpec, order: tuple[int, ...]) -> None:
    form = on_four(order, spec)
    array = jax.device_put(MATRIX, form)
    assert order_of(array) == order and np.array_equal(array, MATRIX)
    for shard in array.addressable_shards:
        assert order_of(shard.data) == order and np.array_equal(shard.data, MATRIX[shard.index])
    out = jax.jit(lambda x: x * 2 + x.sum(), in_shardings=form, out_shardings=form)(array)
    assert order_of(out) == order and np.array_equal(out, MATRIX * 2 + MATRIX.sum())
    assert np.array_equal(jax.device_put(array, NamedSharding(form.sharding.mesh, SPECS[1])), MATRIX)
    made = jax.make_array_from_callback(MATRIX.shape, form, lambda index: MATRIX[index])
    assert order_of(made) == order and np.array_equal(made, MATRIX)


def test_the_compiler_chooses_what_costs_no_transpose() -> None:
    auto = Format(Layout.AUTO)
    turned = jax.device_put(MATRIX, on_one(TURNED))
    for program, array, order in [
        (lambda x: x.T * 2, jax.device_put(MATRIX), TURNED),
        (lambda x: x.T * 2, turned, (0, 1)),
        (lambda x: x * 2 + x, turned, TURNED),
        (lambda x: x + x.T.reshape(MATRIX.shape), turned, (0, 1)),
    ]:
        out = jax.jit(program, out_shardings=auto)(array)
        assert order_of(out) == order
        assert np.array_equal(out, program(MATRIX))
    compiled = jax.jit(lambda x: x.T, in_shardings=auto, out_shardings=auto).lower(turned.aval).compile()
    assert compiled.input_formats[0][0].layout.major_to_minor == (0, 1)
    assert compiled.output_formats.layout.major_to_minor == TURNED
    assert "transpose(" not in compiled.as_text()
    assert "entry_computation_layout={(f32[8,16]{1,0})->f32[16,8]{0,1}}" in compiled.as_text()


@pytest.mark.parametrize("order", [TURNED, (0, 1)])
def test_constraints_inside_a_program(order: tuple[int, ...]) -> None:
    def last(x: Any) -> Any:
        return with_layout_constraint(x.T * 2, Layout(order))

    out = jax.jit(last)(MATRIX)
    assert order_of(out) == order and np.array_equal(out, MATRIX.T * 2)
    inside = jax.jit(lambda x: with_layout_constraint(x.T, Layout(order)) * 3)
    assert np.array_equal(inside(MATRIX), MATRIX.T * 3)


def test_an_array_in_another_layout_is_an_error_or_copied() -> None:
    turned = jax.device_put(MATRIX, on_one(TURNED))
    compiled = jax.jit(lambda x: x * 3).lower(MATRIX).compile()
    with pytest.raises(ValueError, match="input layouts that disagree"):
        compiled(turned)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that `backend` is an old argument
        # Here JAX asks for row-major arrays and hands over what it has.
        assert np.array_equal(jax.jit(lambda x: x * 3, backend="armillary")(turned), MATRIX * 3)
    assert np.array_equal(turned, MATRIX)


@pytest.mark.parametrize("values", [np.float32(3), MATRIX[0], MATRIX])
def test_references_that_a_program_keeps_name_their_layout(values: np.ndarray) -> None:
    ref = jax.new_ref(jnp.asarray(values))

    def program(x: Any) -> Any:
        ref[...] += x
        return ref[...] * 2

    assert np.array_equal(jax.jit(program)(np.float32(1)), (values + 1) * 2)
    assert np.array_equal(jax.jit(program).lower(np.float32(1)).compile()(np.float32(1)), (values + 2) * 2)


def test_tiles_are_refused() -> None:
    tiled = Format(Layout((0, 1), tiling=((8, 128),)), SingleDeviceSharding(our_devices()[0]))
    with pytest.raises(Exception, match="arrays lie untiled"):
        jax.device_put(MATRIX, tiled)


def test_other_devices_and_memories_keep_the_layout() -> None:
    turned = jax.device_put(MATRIX, on_one(TURNED))
    pinned = SingleDeviceSharding(our_devices()[0], memory_kind="pinned_host")
    for place in (our_devices()[1], pinned):
        moved = jax.device_put(turned, place)
        assert order_of(moved) == TURNED and np.array_equal(moved, MATRIX)
    assert np.array_equal(jax.device_put(turned, our_devices()[1]) + 1, MATRIX + 1)


def test_columns_of_numpy_come_in_without_a_copy() -> None:
    columns = np.asfortranarray(MATRIX)
    array = jax.dlpack.from_dlpack(columns)
    assert order_of(array) == TURNED and array.unsafe_buffer_pointer() == columns.ctypes.data
    assert np.array_equal(array, MATRIX) and np.array_equal(array * 2, MATRIX * 2)
    assert order_of(jnp.asarray(columns)) == (0, 1)


def serialized(compiled: Any) -> Callable[..., Any]:
    return serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(compiled), execution_devices=our_devices()[:1]
    )


def test_layouts_are_written_with_programs() -> None:
    form = on_one(TURNED)
    program = jax.jit(lambda x: (x * 2).T, in_shardings=form, out_shardings=form)
    turned = jax.device_put(MATRIX, form)
    compiled = program.lower(turned).compile()
    back: Any = serialized(compiled)
    assert (back.input_formats, back.output_formats) == (compiled.input_formats, compiled.output_formats)
    assert order_of(back(turned)) == TURNED and np.array_equal(back(turned), MATRIX.T * 2)
    exported = export.export(program)(turned)
    assert np.array_equal(exported.call(turned), MATRIX.T * 2)
    assert np.array_equal(exported.call(MATRIX), MATRIX.T * 2)
