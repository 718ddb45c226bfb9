"""What people write in JAX, on our devices."""

import threading
from collections.abc import Callable

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

from tests.jax.plugin import our_devices


def close(ours: object, want: object, tolerance: float = 1e-4) -> bool:
    return np.allclose(np.asarray(ours), np.asarray(want), rtol=tolerance, atol=tolerance)


def test_a_network_trains() -> None:
    our_devices()
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(64, 8)).astype(np.float32), rng.normal(size=(8, 1)).astype(np.float32)
    y = x @ w

    @jax.jit
    def step(params: jax.Array) -> tuple[jax.Array, jax.Array]:
        loss, gradient = jax.value_and_grad(lambda p: jnp.mean((x @ p - y) ** 2))(params)
        return loss, params - 0.1 * gradient

    params = jnp.zeros((8, 1))
    for _ in range(100):
        loss, params = step(params)
    assert float(loss) < 1e-3


def test_control_flow() -> None:
    assert jax.lax.fori_loop(0, 10, lambda i, x: x + i, 0) == 45
    assert close(jax.lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(5.0))[1], [0, 0, 1, 3, 6])
    assert jax.vmap(lambda x: jax.lax.switch(1, [lambda x: x, lambda x: -x], x))(jnp.arange(3.0))[2] == -2


def test_linear_algebra_takes_the_rules_of_cpu() -> None:
    a = np.random.default_rng(0).normal(size=(5, 5)).astype(np.float32)
    s = a @ a.T + 5 * np.eye(5, dtype=np.float32)
    assert close(jnp.linalg.cholesky(s), np.linalg.cholesky(s))
    assert close(jnp.linalg.eigh(s)[0], np.linalg.eigh(s)[0], 1e-3)
    assert close(jnp.linalg.svd(a)[1], np.linalg.svd(a)[1], 1e-3)
    assert close(jnp.linalg.solve(s, a), np.linalg.solve(s, a), 1e-3)
    assert jnp.linalg.eigvals(a).shape == (5,)


def test_random_numbers_are_those_of_every_platform() -> None:
    drawn = jax.random.bits(jax.random.key(0), (2,))
    assert [int(bits) for bits in drawn] == [4070199207, 4202968722]
    assert jax.random.normal(jax.random.key(1, impl="rbg"), (3,)).shape == (3,)


def test_wide_types() -> None:
    with jax.enable_x64(True):
        assert (jnp.arange(3.0) @ jnp.arange(3.0)).dtype == np.float64


def test_nans_are_found() -> None:
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        jnp.log(-1.0).block_until_ready()


def test_cpu_devices_are_ours_where_no_others_are() -> None:
    assert jax.devices("cpu") == our_devices()


def test_several_threads_at_once() -> None:
    square = jax.jit(lambda x: (x @ x).sum())
    wrong = []

    def work(size: int) -> None:
        for _ in range(100):
            if square(jnp.full((size, size), 1.0)) != size**3:
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(size,)) for size in (2, 3, 40, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_written_for_cpu_is_written_for_us() -> None:
    def choose(x: jax.Array) -> jax.Array:
        return jax.lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x + 2)

    assert float(jax.jit(choose)(1.0)) == 2
    assert float(jax.vmap(choose)(jnp.ones(2))[1]) == 2
    only_cpu = jax.jit(lambda x: jax.lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x))
    assert float(only_cpu(1.0)) == 2


def test_what_is_exported_for_cpu_runs_here_and_the_other_way_round() -> None:
    x = np.arange(3, dtype=np.float32)
    assert jax.export.export(jax.jit(jnp.sin))(x).platforms == ("cpu",)
    for platforms in (("cpu",), ("tpu", "cpu")):
        exported = jax.export.export(jax.jit(lambda x: x + 1), platforms=platforms)(x)
        assert np.array_equal(exported.call(x), x + 1)
    with pytest.raises(ValueError, match="exported for platform"):
        jax.export.export(jax.jit(jnp.sin), platforms=("tpu",))(x).call(x)


def test_an_array_cannot_be_given_away_and_kept() -> None:
    x = jnp.ones(4)
    with pytest.raises(RuntimeError, match="donated and also"):
        jax.jit(lambda a, b: a + b, donate_argnums=0)(x, x)


@pytest.mark.parametrize("f", [jnp.cosh, jnp.sinh])
def test_hyperbolic_functions_are_one_op_each(f: Callable[[jax.Array], jax.Array]) -> None:
    z = jnp.array([complex(np.inf, np.inf), complex(1e-20, 1e-20), complex(30, 1)], jnp.complex64)
    assert "log" not in jax.jit(f).lower(z).compile().as_text()
    result = np.asarray(jax.jit(f)(z))
    assert np.isnan(result[0].real) and np.isnan(result[0].imag)
    assert np.allclose(result[1:], getattr(np, f.__name__)(np.asarray(z)[1:]), rtol=1e-6)
