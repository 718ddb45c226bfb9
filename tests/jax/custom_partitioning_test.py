"""Functions with a partitioning rule of the user's own: the rule is asked, and what it says is what runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.jax.plugin import cached_in, our_devices

Asked = list[tuple[tuple[P, ...], tuple[P, ...]]]


@pytest.fixture
def square() -> Mesh:
    return Mesh(np.array(our_devices()).reshape(2, 2), ("a", "b"))


def specs(shapes: Any) -> tuple[P, ...]:
    return tuple(s.sharding.spec for s in jax.tree.leaves(shapes))


def ruled(
    function: Callable[..., Any], rule: str, lower: Callable[..., Any], **kinds: Any
) -> tuple[Any, Asked]:
    """The function, where each device does `lower(operands' specs)(tiles)`; and what was asked."""
    asked: Asked = []
    f = custom_partitioning(function)

    def partition(mesh: Mesh, arguments: Any, result: Any) -> Any:
        asked.append((specs(arguments), specs(result)))
        shardings = (
            jax.tree.map(lambda s: s.sharding, result),
            jax.tree.map(lambda s: s.sharding, arguments),
        )
        return mesh, lower(*specs(arguments)), *shardings

    f.def_partition(partition=partition, sharding_rule=rule, **kinds)
    return f, asked


def cut(mesh: Mesh, spec: P, *shape: int) -> jax.Array:
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return jax.device_put(x, NamedSharding(mesh, spec))


def product(whole: P, right: P) -> Callable[..., Any]:
    """Rows stay where they are; what is summed over is cut in the right factor only."""

    def lower(x: jax.Array, y: jax.Array) -> jax.Array:
        axis = right[0]
        if axis is None:
            return x @ y
        n = y.shape[0]
        part = jax.lax.dynamic_slice_in_dim(x, jax.lax.axis_index(axis) * n, n, axis=1)
        return jax.lax.psum(part @ y, axis)

    return lower


PRODUCT: dict[str, Any] = {"rule": "i j, j k -> i k", "lower": product, "reduction_factors": ("j",)}


def test_the_example_of_the_documentation(square: Mesh) -> None:
    """Rows are transformed where they are; a row that is cut is put together first."""

    @custom_partitioning
    def my_fft(x: jax.Array) -> jax.Array:
        return jnp.fft.fft(x)

    def supported(x: jax.ShapeDtypeStruct) -> NamedSharding:
        assert isinstance(x.sharding, NamedSharding)
        return NamedSharding(x.sharding.mesh, P(*x.sharding.spec[:-1], None))

    def partition(mesh: Mesh, arguments: Any, _: Any) -> Any:
        sharding = supported(arguments[0])
        return mesh, jnp.fft.fft, sharding, (sharding,)

    my_fft.def_partition(partition=partition, sharding_rule="...i -> ...i")
    f = jax.jit(lambda x: my_fft(x) * 2)
    for spec, gathers in ((P(("a", "b"), None), False), (P("a", "b"), True)):
        x = cut(square, spec, 16, 32)
        assert ("all-gather" in f.lower(x).compile().as_text()) == gathers
        np.testing.assert_allclose(f(x), 2 * np.fft.fft(x), rtol=1e-4, atol=1e-4)


def test_a_rule_may_let_the_devices_talk(square: Mesh) -> None:
    f, asked = ruled(lambda x, y: x @ y, **PRODUCT)
    x, y = cut(square, P("a", None), 8, 16), cut(square, P("b", None), 16, 4)
    text = jax.jit(f).lower(x, y).compile().as_text()
    assert "all-reduce" in text and "all-gather" not in text
    assert asked == [((P("a", None), P("b", None)), (P("a", None),))]
    np.testing.assert_allclose(jax.jit(f)(x, y), np.asarray(x) @ np.asarray(y), rtol=1e-5)


def test_several_rules_between_other_ops(square: Mesh) -> None:
    f, asked = ruled(lambda x, y: x @ y, **PRODUCT)
    x, y = cut(square, P("a", None), 8, 16), cut(square, P("b", None), 16, 16)
    g = lambda x, y: jnp.tanh(f(f(jnp.sin(x), y), y)).sum(0)  # noqa: E731
    np.testing.assert_allclose(jax.jit(g)(x, y), np.tanh(np.sin(x) @ y @ y).sum(0), rtol=1e-4, atol=1e-4)
    assert len(asked) == 2


def test_a_rule_is_asked_where_the_result_is_wanted_in_tiles(square: Mesh) -> None:
    f, asked = ruled(lambda x: x * 2, "i j -> i j", lambda _: lambda x: x * 2)
    x = cut(square, P(), 8, 16)
    wanted = NamedSharding(square, P("b", "a"))
    result = jax.jit(lambda x: f(jnp.flip(x)), out_shardings=wanted)(x)
    assert asked == [((P("b", "a"),), (P("b", "a"),))]
    np.testing.assert_array_equal(result, 2 * np.flip(x))


def test_tiles_that_the_rule_does_not_give_are_made(square: Mesh) -> None:
    """A rule that can do without tiles only: operands are put together, and the result is cut as it was asked for."""
    asked: Asked = []
    f = custom_partitioning(lambda x, y: x + y)

    def partition(mesh: Mesh, arguments: Any, result: Any) -> Any:
        asked.append((specs(arguments), specs(result)))
        whole = NamedSharding(mesh, P())
        return mesh, jnp.add, whole, (whole, whole)

    f.def_partition(partition=partition, sharding_rule="i j, i j -> i j")
    x, y = cut(square, P("a", None), 8, 16), cut(square, P(None, "b"), 8, 16)
    result = jax.jit(lambda x, y: f(x, y))(x, y)
    assert asked == [((P("a", None), P(None, "b")), (P("a", "b"),))]
    assert result.sharding.is_equivalent_to(NamedSharding(square, P("a", "b")), 2)
    np.testing.assert_array_equal(result, np.asarray(x) + np.asarray(y))


def test_the_function_itself_runs_where_nothing_is_cut(square: Mesh) -> None:
    f, asked = ruled(lambda x: x * 2, "i j -> i j", lambda _: lambda x: x * 2)
    x = cut(square, P(), 8, 16)
    np.testing.assert_array_equal(jax.jit(f)(x), 2 * np.asarray(x))
    rows = cut(square, P(None, "a"), 8, 16)
    scanned = jax.jit(lambda xs: jax.lax.scan(lambda c, x: (c + f(x[None])[0], x), jnp.zeros(16), xs))(rows)
    np.testing.assert_allclose(scanned[0], 2 * np.asarray(rows).sum(0), rtol=1e-5)
    inside = jax.shard_map(f, mesh=square, in_specs=P("a"), out_specs=P("a"))
    np.testing.assert_array_equal(jax.jit(inside)(x), 2 * np.asarray(x))
    assert asked == []


def test_trees_go_in_and_come_out(square: Mesh) -> None:
    def both(t: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        return t["x"] + t["y"], t["x"] * t["y"]

    f, asked = ruled(both, "i j, i j -> i j, i j", lambda *_: both)
    x, y = cut(square, P("a", "b"), 8, 16), cut(square, P("a", "b"), 8, 16)
    got = jax.jit(lambda x, y: f({"x": x, "y": y}))(x, y)
    for result, want in zip(got, both({"x": np.asarray(x), "y": np.asarray(y)}), strict=True):
        np.testing.assert_array_equal(result, want)
    assert asked == [((P("a", "b"),) * 2, (P("a", "b"),) * 2)]


def test_what_the_rule_raises_reaches_the_user(square: Mesh) -> None:
    def fails(*_: P) -> Any:
        raise RuntimeError("no such tiles")

    x = cut(square, P("a"), 8, 16)
    f, _ = ruled(lambda x: x, "i j -> i j", fails)
    with pytest.raises(jax.errors.JaxRuntimeError, match="no such tiles"):
        jax.jit(f)(x)
    wrong, _ = ruled(lambda x: x, "i j -> i j", lambda _: lambda x: x[:1])
    with pytest.raises(jax.errors.JaxRuntimeError, match="Mismatch in result shapes"):
        jax.jit(wrong)(x)


def test_the_compilation_cache_keeps_what_rules_said(square: Mesh, tmp_path: Path) -> None:
    """Where the program is read again its rules are gone."""
    x, y = cut(square, P("a", None), 8, 16), cut(square, P("b", None), 16, 4)
    with cached_in(tmp_path, jax_remove_custom_partitioning_ptr_from_cache_key=True):
        for times in (1, 0, 0):
            f, asked = ruled(lambda x, y: x @ y, **PRODUCT)
            np.testing.assert_allclose(jax.jit(f.__call__)(x, y), np.asarray(x) @ np.asarray(y), rtol=1e-5)
            assert len(asked) == times
            jax.clear_caches()
        assert any(tmp_path.iterdir())


def test_arrays_may_be_empty(square: Mesh) -> None:
    f, _ = ruled(lambda x: x * x, "i j -> i j", lambda *specs: lambda x: x * x)
    x = cut(square, P("a", "b"), 8, 4)
    empty = NamedSharding(square, P("a", "b"))
    for rows, columns in ((0, 4), (8, 0), (0, 0)):
        part = jax.jit(lambda x, r=rows, c=columns: f(jax.lax.with_sharding_constraint(x[:r, :c], empty)))
        assert part(x).shape == (rows, columns)
