"""armillary.jit on JAX functions: signatures, pytrees, statics, donation."""

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import armillary as arm
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

Pair = namedtuple("Pair", "a b")


def test_pytrees_go_in_and_come_out() -> None:
    @arm.jit
    def f(pair, table, *, shift):
        return Pair(pair.a + shift, {"sum": pair.b + table["x"]}), None

    result, nothing = f(Pair(np.ones(2, np.float32), 1.0), {"x": jnp.arange(3)}, shift=2)
    assert nothing is None
    np.testing.assert_array_equal(result.a, [3, 3])
    np.testing.assert_array_equal(result.b["sum"], [1, 2, 3])
    assert isinstance(result.a, np.ndarray)


def test_each_signature_is_compiled_once() -> None:
    traces = []

    @arm.jit
    def f(x):
        traces.append(x)
        return x + 1

    for value in (1, 2, 1.5, 2.5, np.float32(1), np.ones(2, np.float32), jnp.ones(2), np.ones(3, np.float32)):
        np.testing.assert_array_equal(f(value), np.asarray(value) + 1)
        assert f(value).dtype == jax.jit(lambda x: x + 1)(value).dtype
    assert len(traces) <= 6


def test_static_arguments_are_part_of_the_signature() -> None:
    @arm.jit
    def plain(x, n):
        return x

    def power(x, n, *, negate=False):
        return -(x**n) if negate else x**n

    for f in (
        arm.jit(power, static_argnums=1, static_argnames="negate"),
        arm.jit(power, static_argnames=("n", "negate")),
        arm.jit(power, static_argnums=(-1,), static_argnames=["negate"]),
    ):
        assert f(np.float32(3), 2) == 9
        assert f(np.float32(3), 3) == 27
        assert f(np.float32(3), 3, negate=True) == -27
    assert f(np.float32(3), n=2) == 9
    with pytest.raises(arm.UserError, match="hashable"):
        arm.jit(power, static_argnums=1)(np.float32(3), [2])


def test_unused_arguments_and_constants_do_no_harm() -> None:
    table = np.arange(1000, dtype=np.float32)
    f = arm.jit(lambda x, unused: x + table)
    np.testing.assert_array_equal(f(np.float32(1), object and np.zeros(7)), table + 1)


def test_wide_types_follow_jax() -> None:
    f = arm.jit(lambda x: x * 2)
    assert f(np.arange(3.0)).dtype == np.float32
    with jax.enable_x64(True):
        assert f(np.arange(3.0)).dtype == np.float64
        assert f(1.0).dtype == np.float64
    assert f(np.arange(3.0)).dtype == np.float32


def test_typed_keys_go_in_and_come_out() -> None:
    f = arm.jit(lambda key: (jax.random.split(key), jax.random.uniform(key, (3,))))
    key = jax.random.key(7)
    keys, values = f(key)
    wanted_keys, wanted = jax.jit(lambda key: (jax.random.split(key), jax.random.uniform(key, (3,))))(key)
    assert (jax.random.key_data(keys) == jax.random.key_data(wanted_keys)).all()
    np.testing.assert_array_equal(values, wanted)


def test_donated_arrays_may_be_written_over() -> None:
    f = arm.jit(lambda x: x + 1, donate_argnums=0)
    x = f(np.zeros(1000, np.float32))
    for _ in range(3):
        x = f(x)
    np.testing.assert_array_equal(x, np.full(1000, 4))


def test_donated_arrays_of_jax_stay_as_they_are() -> None:
    f = arm.jit(lambda x: x + 1, donate_argnums=0)
    x = jnp.zeros(1000)
    np.testing.assert_array_equal(f(x), np.ones(1000))
    np.testing.assert_array_equal(x, np.zeros(1000))


def test_results_feed_back_into_jax() -> None:
    f = arm.jit(jax.grad(lambda x: jnp.sum(jnp.sin(x) ** 2)))
    x = np.linspace(0, 1, 5, dtype=np.float32)
    np.testing.assert_allclose(jax.jit(jnp.cos)(f(x)), np.cos(np.sin(2 * x)), rtol=1e-5)


def test_transformations_around_it_are_refused() -> None:
    f = arm.jit(jnp.sin)
    with pytest.raises(arm.UserError, match="inside"):
        jax.grad(lambda x: f(x))(1.0)


def test_what_it_compiles_can_be_looked_at() -> None:
    f = arm.jit(lambda x: jnp.tanh(x) + 1)
    program = f.compile(np.ones(4, np.float32))
    assert "tanh" in program.as_text()
    np.testing.assert_allclose(program(np.ones(4, np.float32)), np.tanh(1) + np.ones(4), rtol=1e-6)
    assert "stablehlo.tanh" in f.lower(np.ones(4, np.float32)).as_text()


def test_a_second_compilation_is_explained(capsys) -> None:
    f = arm.jit(lambda x, y: x + y)
    arm.set_flags("explain_recompiles=true")
    try:
        f(np.ones(2, np.float32), 1)
        f(np.ones(3, np.float32), 1)
    finally:
        arm.set_flags("explain_recompiles=false")
    assert "leaf 0 is float32[3], was float32[2]" in capsys.readouterr().err


def test_errors_name_the_python_line() -> None:
    def f(x):
        return jax.ffi.ffi_call("nobody_knows_this", jax.ShapeDtypeStruct((2,), np.float32))(x)

    with pytest.raises(arm.UnsupportedError, match=r"jit_test\.py:\d+"):
        arm.jit(f)(np.ones(2, np.float32))


def test_programs_call_python() -> None:
    seen = []

    @arm.jit
    def f(x):
        jax.debug.callback(lambda v: seen.append(("debug", float(v[0]))), x)
        for i in (1, 2):
            io_callback(lambda v, i=i: seen.append((i, float(v[0]))), None, x, ordered=True)
        return jax.pure_callback(lambda v: np.sin(v), jax.ShapeDtypeStruct((2,), np.float32), x) + 1

    for value in (1, 3):
        seen.clear()
        assert np.allclose(f(np.full(2, value, np.float32)), np.sin(value) + 1)
        assert sorted(seen, key=str) == sorted([("debug", value), (1, value), (2, value)], key=str)
        assert seen.index((1, value)) < seen.index((2, value))
    compiled = f.compile(np.ones(2, np.float32))
    assert np.allclose(compiled(np.ones(2, np.float32)), np.sin(1) + 1)


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
def test_what_a_callback_raises_is_seen(kind: type[BaseException]) -> None:
    def fail(x: np.ndarray) -> np.ndarray:
        raise kind("in the callback")

    @arm.jit
    def f(x):
        return jax.pure_callback(fail, jax.ShapeDtypeStruct((2,), np.float32), x)

    with pytest.raises((arm.UserError, KeyboardInterrupt), match="in the callback") as caught:
        f(np.ones(2, np.float32))
    if issubclass(kind, Exception):
        assert isinstance(caught.value, arm.UserError)
        assert isinstance(caught.value.__cause__, kind)
    else:
        assert isinstance(caught.value, kind)


def test_a_lowered_program_that_calls_python_is_compiled() -> None:
    def f(x):
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((2,), np.float32), x)

    x = np.ones(2, np.float32)
    assert np.allclose(arm.compile(jax.jit(f).lower(x))(x), np.sin(1))


@pytest.mark.parametrize(
    "make",
    [
        lambda b: (b, b),
        lambda b: (b[:4], b[1:5]),
        lambda b: (b[2:6], b[0:4]),
        lambda b: (b[:4], b[4:8]),
        lambda b: (b[::2], b[1::2]),
    ],
    ids=["same", "left", "right", "apart", "interleaved"],
)
@pytest.mark.parametrize("donate", [0, 1, (0, 1)])
def test_donated_memory_that_another_argument_shares_is_left_alone(make: Callable, donate: Any) -> None:
    x, y = make(np.arange(8, dtype=np.float32))
    wanted = x + 1, y[::-1] * 2
    ours = arm.jit(lambda x, y: (x + 1, y[::-1] * 2), donate_argnums=donate)(x, y)
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
