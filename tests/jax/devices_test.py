"""Programs on four devices: shard_map, pmap, arrays that are cut over a mesh."""

import re

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.lax import parallel
from jax.experimental import io_callback
from jax.experimental.compute_on import compute_on
from jax.experimental.control_deps import control_dep, schedule
from jax.experimental.shard_alike import shard_alike
from jax.sharding import AxisType, Mesh, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

from tests.jax.plugin import our_devices


@pytest.fixture
def line() -> Mesh:
    return Mesh(np.array(our_devices()), ("x",))


@pytest.fixture
def square() -> Mesh:
    return Mesh(np.array(our_devices()).reshape(2, 2), ("a", "b"))


@pytest.fixture
def matrix(square: Mesh) -> jax.Array:
    return jax.device_put(jnp.arange(64.0).reshape(8, 8), NamedSharding(square, P("a", "b")))


def test_a_program_runs_where_its_argument_lies() -> None:
    last = our_devices()[-1]
    assert jax.jit(lambda x: x + 1)(jax.device_put(jnp.ones(3), last)).devices() == {last}


def test_shard_map_with_collectives(line: Mesh) -> None:
    def f(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        ring = [(i, (i + 1) % 4) for i in range(4)]
        return jax.lax.psum(x, "x"), jax.lax.ppermute(x, "x", ring), jax.lax.axis_index("x")[None]

    mapped = jax.shard_map(f, mesh=line, in_specs=P("x"), out_specs=(P(), P("x"), P("x")))
    total, turned, index = jax.jit(mapped)(jnp.arange(8.0))
    assert np.array_equal(total, np.arange(8.0).reshape(4, 2).sum(0))
    assert np.array_equal(turned, np.roll(np.arange(8.0), 2))
    assert np.array_equal(index, np.arange(4))


@pytest.mark.parametrize("dtype", ["int2", "uint2", "int4", "uint4", "bool"])
def test_collectives_of_narrow_integers(line: Mesh, dtype: str) -> None:
    total, most = (jax.lax.psum, jax.lax.pmax) if dtype != "bool" else (jax.lax.pmax, jax.lax.pmax)

    def f(x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        return total(x, "x"), most(x, "x"), jax.lax.all_gather(x, "x", tiled=True)

    values = np.array([[1, 0, -1, 1], [1, 1, -2, 0], [0, 1, -1, 0], [0, 0, 1, 1]]).astype(dtype)
    out = (P(), P(), P())
    sums, maxima, all = jax.jit(jax.shard_map(f, mesh=line, in_specs=P("x"), out_specs=out, check_vma=False))(
        jnp.asarray(values)
    )
    want = values[0]
    for row in values[1:]:
        want = want | row if dtype == "bool" else want + row
    assert np.array_equal(np.asarray(sums)[0], want)
    assert np.array_equal(np.asarray(maxima)[0], values.max(0))
    assert np.array_equal(np.asarray(all), values)


def test_pmap() -> None:
    sums = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(jnp.arange(4.0))
    assert np.array_equal(sums, np.full(4, 6.0))


def test_cut_arrays_are_computed_with_and_stay_cut(square: Mesh, matrix: jax.Array) -> None:
    whole = np.arange(64.0).reshape(8, 8)
    assert np.allclose(jax.jit(lambda x: x @ x)(matrix), whole @ whole)
    doubled = jax.jit(lambda x: x * 2)(matrix)
    assert doubled.sharding.is_equivalent_to(matrix.sharding, 2)
    columns = NamedSharding(square, P("a"))
    assert np.allclose(jax.jit(lambda x: x.sum(0), out_shardings=columns)(matrix), whole.sum(0))
    assert np.array_equal(jax.device_put(matrix, NamedSharding(square, P("b", None))), whole)


def test_cut_arrays_are_donated(matrix: jax.Array) -> None:
    result = jax.jit(lambda x: x + 1, donate_argnums=0)(matrix)
    assert matrix.is_deleted()
    assert float(result[7, 7]) == 64


def test_callbacks_from_all_devices(line: Mesh) -> None:
    def f(x: jax.Array) -> jax.Array:
        return jax.pure_callback(lambda a: np.asarray(a) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    mapped = jax.shard_map(f, mesh=line, in_specs=P("x"), out_specs=P("x"))
    assert np.array_equal(jax.jit(mapped)(jnp.arange(8.0)), 2 * np.arange(8.0))


def test_partitioned_callbacks_see_tiles(matrix: jax.Array) -> None:
    seen = []

    def f(x: jax.Array) -> jax.Array:
        jax.debug.callback(lambda tile: seen.append(np.asarray(tile)), x * 2, partitioned=True)
        return x

    jax.jit(f)(matrix)
    jax.effects_barrier()
    tiles = [2 * np.arange(64).reshape(8, 8)[r : r + 4, c : c + 4] for r in (0, 4) for c in (0, 4)]
    assert sorted(t.tolist() for t in seen) == sorted(t.tolist() for t in tiles)


def test_partitioned_callbacks_under_vmap_see_tiles_of_their_rows(matrix: jax.Array) -> None:
    seen = []

    @jax.vmap
    def f(row: jax.Array) -> None:
        jax.debug.callback(lambda tile: seen.append(tuple(np.asarray(tile))), row, partitioned=True)

    jax.jit(f)(jax.device_put(matrix, NamedSharding(matrix.sharding.mesh, P(None, "b"))))
    jax.effects_barrier()
    halves = np.arange(64).reshape(16, 4)
    assert set(seen) == {tuple(h) for h in halves}


def test_random_bits_are_made_where_they_are_needed(matrix: jax.Array) -> None:
    @jax.jit
    def f(x: jax.Array) -> jax.Array:
        return x + jax.random.normal(jax.random.key(1), x.shape)

    text = f.lower(matrix).compile().as_text()
    assert "[8,8]" not in text and "all-gather" not in text
    assert np.allclose(f(matrix), f(jax.device_put(matrix, our_devices()[0])))


def test_loops_carry_tiles(matrix: jax.Array) -> None:
    @jax.jit
    def f(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 1000, lambda i, y: jnp.sin(y) + x * i, x)

    text = f.lower(matrix).compile().as_text()
    assert "[8,8]" not in text and "all-gather" not in text
    assert np.allclose(f(matrix), f(jax.device_put(matrix, our_devices()[0])))


def test_a_data_parallel_step_sums_its_gradients_only(line: Mesh) -> None:
    def loss(w: list[jax.Array], x: jax.Array, y: jax.Array) -> jax.Array:
        h = jnp.tanh(x @ w[0] + w[1])
        return jnp.mean((h @ w[2] - y) ** 2)

    @jax.jit
    def step(w: list[jax.Array], x: jax.Array, y: jax.Array) -> tuple[jax.Array, list[jax.Array]]:
        return jax.value_and_grad(loss)(w, x, y)

    rng = np.random.default_rng(0)
    w = [rng.normal(size=s).astype(np.float32) for s in ((8, 16), (16,), (16, 4))]
    x, y = (rng.normal(size=s).astype(np.float32) for s in ((32, 8), (32, 4)))
    rows = NamedSharding(line, P("x"))
    arguments = w, jax.device_put(x, rows), jax.device_put(y, rows)
    text = step.lower(*arguments).compile().as_text()
    assert "all-gather" not in text
    [sums] = re.findall(r" all-reduce\(([^)]*)\)", text)
    assert sums.count(",") == 3  # the loss, and of each array its gradient
    for ours, want in zip(jax.tree.leaves(step(*arguments)), jax.tree.leaves(step(w, x, y)), strict=True):
        np.testing.assert_allclose(ours, want, rtol=1e-4, atol=1e-5)


@pytest.fixture
def explicit() -> Mesh:
    return Mesh(np.array(our_devices()), ("x",), axis_types=(AxisType.Explicit,))


def summands(x: jax.Array) -> list[np.ndarray]:
    return [np.asarray(shard.data) for shard in x.addressable_shards]


def test_devices_hold_what_they_have_summed_themselves(explicit: Mesh) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 4, size=(8, n)).astype(np.float32) for n in (3, 5))
    segments = rng.integers(0, 6, size=8)
    with jax.set_mesh(explicit):
        unreduced = P(unreduced={"x"})

        @jax.jit
        def f(a: jax.Array, b: jax.Array, s: jax.Array) -> tuple[jax.Array, ...]:
            product = jnp.einsum("ij,ik->jk", a, b, out_sharding=P(None, None, unreduced={"x"}))
            sums = jax.lax.reduce_sum(a, axes=(0,), out_sharding=unreduced)
            scattered = jax.ops.segment_sum(b[:, 0], s, num_segments=6, out_sharding=unreduced)
            return product.T, sums + sums, scattered

        rows = [jax.device_put(v, P("x")) for v in (a, b, segments)]
        assert "all-reduce" not in f.lower(*rows).compile().as_text()
        product, sums, scattered = f(*rows)
        for d in range(4):
            mine = slice(2 * d, 2 * d + 2)
            np.testing.assert_array_equal(summands(product)[d], (a[mine].T @ b[mine]).T)
            np.testing.assert_array_equal(summands(sums)[d], 2 * a[mine].sum(0))
            want = np.bincount(segments[mine], weights=b[mine, 0], minlength=6)
            np.testing.assert_array_equal(summands(scattered)[d], want)
        np.testing.assert_array_equal(reshard(product, P()), (a.T @ b).T)
        tile = reshard(jax.device_put(np.arange(8.0), P("x")), unreduced)
        for d in range(4):
            np.testing.assert_array_equal(summands(tile)[d], np.arange(8.0) * (np.arange(8) // 2 == d))


def test_gradients_that_are_accumulated_are_summed_once(explicit: Mesh) -> None:
    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(x @ w))

    @jax.jit
    def step(w: jax.Array, xs: jax.Array) -> jax.Array:
        def turn(total: jax.Array, x: jax.Array) -> tuple[jax.Array, None]:
            return total + jax.grad(loss)(w, x), None

        zero = reshard(jnp.zeros_like(w), P(unreduced={"x"}))
        return reshard(jax.lax.scan(turn, zero, xs)[0], P())

    rng = np.random.default_rng(0)
    w, xs = (rng.normal(size=s).astype(np.float32) for s in ((4, 3), (5, 8, 4)))
    with jax.set_mesh(explicit):
        arguments = jax.device_put(w, P(reduced={"x"})), jax.device_put(xs, P(None, "x"))
        text = step.lower(*arguments).compile().as_text()
        assert text.count(" all-reduce(") == 1
        assert text.index(" all-reduce(") > text.index(" while(")
        got = step(*arguments)
    want = sum(jax.grad(loss)(w, x) for x in xs)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_what_no_result_is_as_large_as_is_not_given_away(line: Mesh) -> None:
    x = jax.device_put(np.arange(16.0).reshape(8, 2), NamedSharding(line, P("x")))
    jax.jit(lambda x: x @ x.T, donate_argnums=0)(x)
    assert not x.is_deleted()
    jax.jit(lambda x: x.reshape(16), donate_argnums=0)(x)
    assert x.is_deleted()


def test_layers_in_a_loop_sum_their_gradients(line: Mesh) -> None:
    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.mean(jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, w)[0] ** 2)

    grad = jax.jit(jax.grad(loss))
    rng = np.random.default_rng(0)
    w, x = (rng.normal(size=s).astype(np.float32) for s in ((3, 8, 8), (32, 8)))
    cut = jax.device_put(x, NamedSharding(line, P("x")))
    assert "all-gather" not in grad.lower(w, cut).compile().as_text()
    np.testing.assert_allclose(grad(w, cut), grad(w, x), rtol=1e-4, atol=1e-5)


def test_shardings_can_be_inspected(matrix: jax.Array) -> None:
    seen = []

    def f(x: jax.Array) -> jax.Array:
        jax.debug.inspect_array_sharding(x + 1, callback=seen.append)
        return x

    assert np.array_equal(jax.jit(f)(matrix), matrix)
    assert len(seen) == 1 and seen[0].is_equivalent_to(matrix.sharding, 2)


def test_ordered_callbacks_in_manual_regions(line: Mesh) -> None:
    seen: list[float] = []

    def f(x: jax.Array) -> None:
        io_callback(lambda v: seen.append(float(v[0])), None, x, ordered=True)

    jax.jit(jax.shard_map(f, mesh=line, in_specs=P("x"), out_specs=None))(jnp.arange(4.0))
    jax.effects_barrier()
    assert sorted(seen) == [0, 1, 2, 3]


def test_foreign_calls_work_on_the_batches_of_each_device(line: Mesh) -> None:
    x = np.random.default_rng(0).normal(size=(8, 4, 5)).astype(np.float32)
    cut = jax.device_put(x, NamedSharding(line, P("x")))
    f = jax.jit(lambda x: jnp.linalg.qr(x))
    text = f.lower(cut).compile().as_text()
    assert "all-gather" not in text and "[8,4," not in text
    for got, want in zip(f(cut), f(x), strict=True):
        assert np.allclose(got, want, atol=1e-5)
    ahead = jax.device_put(x, NamedSharding(line, P(None, "x")))  # rows of a matrix belong together
    for got, want in zip(f(ahead), f(x), strict=True):
        assert np.allclose(got, want, atol=1e-5)


def test_places_mean_nothing_on_several_devices(line: Mesh) -> None:
    @compute_on("device_host")
    @jax.jit
    def double(x: jax.Array) -> jax.Array:
        return x * 2

    x = jax.device_put(jnp.arange(8.0), NamedSharding(line, P("x")))
    assert np.array_equal(jax.jit(lambda x: double(x) + 1)(x), np.arange(8.0) * 2 + 1)


def test_a_program_exported_for_one_device_runs_on_several(line: Mesh) -> None:
    one = NamedSharding(Mesh(np.array(our_devices()[:1]), ("y",)), P("y"))
    program = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, one))
    exported = jax.export.export(program)(jnp.arange(8.0))
    assert exported.nr_devices == 1
    x = jax.device_put(jnp.arange(8.0), NamedSharding(line, P("x")))
    assert np.array_equal(exported.call(x), np.arange(8.0) * 2)


def test_collectives_that_are_started_and_awaited(line: Mesh) -> None:
    def local(x: jax.Array, started: bool) -> list[jax.Array]:
        ring = [(i, (i + 1) % 4) for i in range(4)]
        if not started:
            return [
                jax.lax.all_gather(x, "x", tiled=True),
                jax.lax.psum(x, "x"),
                jax.lax.psum_scatter(x @ x.T @ x, "x", scatter_dimension=1, tiled=True),
                jax.lax.all_to_all(x.T, "x", split_axis=0, concat_axis=0, tiled=True),
                jax.lax.ppermute(x, "x", ring),
            ]
        futures = [
            parallel.all_gather_start(x, "x", tiled=True),
            parallel.psum_start(x, "x"),
            parallel.psum_scatter_start(x @ x.T @ x, "x", scatter_dimension=1, tiled=True),
            parallel.all_to_all_start(x.T, "x", split_axis=0, concat_axis=0, tiled=True),
            parallel.ppermute_start(x, "x", ring),
        ]
        results = [future.done() for future in futures]
        schedule([futures[0].x, futures[1].x, results[0], results[2], results[1]])
        return results

    x = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)

    def run(started: bool) -> list[jax.Array]:
        mapped = jax.shard_map(
            lambda x: local(x, started), mesh=line, in_specs=P("x"), out_specs=P("x"), check_vma=False
        )
        return jax.jit(mapped)(x)

    for ours, plain in zip(run(True), run(False), strict=True):
        assert np.array_equal(ours, plain)


def test_an_order_against_the_data_is_refused() -> None:
    def f(x: jax.Array) -> jax.Array:
        y = jnp.sin(x) @ x
        z = jnp.cos(y) @ y
        control_dep(z, y)
        return z

    with pytest.raises(jax.errors.JaxRuntimeError, match="would have to run before"):
        jax.jit(f)(jnp.ones((4, 4)))


def test_values_are_cut_alike(square: Mesh, matrix: jax.Array) -> None:
    def f(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        counted = jnp.arange(64.0).reshape(8, 8)
        _, counted = shard_alike(x * 2, counted)
        return counted + 1, jnp.cos(x)

    for ours, plain in zip(jax.jit(f)(matrix), f(np.asarray(matrix)), strict=True):
        assert np.allclose(ours, plain, atol=1e-6)
        assert ours.sharding.is_equivalent_to(matrix.sharding, 2)
    alone = jax.device_put(np.arange(8.0), our_devices()[0])
    assert np.array_equal(shard_alike(alone, alone * 2)[1], np.arange(8.0) * 2)


EMPTY = {
    "ravel": lambda x, i: x[:, :0].ravel(),
    "reshape": lambda x, i: x[:0].reshape(-1, 2),
    "roll": lambda x, i: jnp.roll(x, 0, 1),
    "behind": lambda x, i: jnp.concatenate([x, x[:, :0]], 1),
    "before": lambda x, i: jnp.hstack([x[:, :0], x]),
    "rows": lambda x, i: jnp.concatenate([x[:0], x, x[:0]]),
    "one_row": lambda x, i: jnp.take(x[:1], i, axis=0),
    "one_element": lambda x, i: x[0, :1].at[i].get(),
    "whole_slices": lambda x, i: jax.vmap(lambda a, k: jax.lax.dynamic_slice(a, (k,), (4,)))(x, i),
    "along_axis": lambda x, i: jnp.take_along_axis(x[:1], jnp.zeros((8, 4), int) + i[:, None], 0),
}


@pytest.mark.parametrize("rows", [0, 8])
@pytest.mark.parametrize("name", EMPTY)
def test_what_is_empty_or_never_read_need_not_be_cut(line: Mesh, name: str, rows: int) -> None:
    if rows == 0 and name in ("one_row", "one_element", "along_axis"):
        return
    x, i = np.arange(4.0 * rows, dtype=np.float32).reshape(rows, 4), np.zeros(rows, np.int32)
    cut = [jax.device_put(a, NamedSharding(line, P("x"))) for a in (x, i)]
    wanted = EMPTY[name](jnp.asarray(x), jnp.asarray(i))
    for out in (None, NamedSharding(line, P())):
        assert np.array_equal(jax.jit(EMPTY[name], out_shardings=out)(*cut), wanted)
