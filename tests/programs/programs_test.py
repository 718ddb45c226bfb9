"""Real JAX programs, shrunk: the cpu target against XLA:CPU, and against the interpreter.

The numbers are seeded. Tolerances are relative to the largest magnitude: 1e-5 against XLA and the interpreter, since sums
may be taken in another order; memory is held to 1.2 times the bytes that must be alive at once.
"""

from collections.abc import Callable
from typing import Any

import armillary as arm
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

TOLERANCE = 1e-5


def f32(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def mlp_step(weights, x, y):
    def loss(weights):
        h = x
        for w, b in weights[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = weights[-1]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(h @ w + b), y[:, None], 1))

    value, gradient = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, weights, gradient)


def layer_norm(x, g, b):
    mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * g + b


def block(p, x, heads=2):
    batch, steps, width = x.shape
    q, k, v = jnp.split(layer_norm(x, p["g"], p["b"]) @ p["qkv"], 3, -1)
    split = lambda t: t.reshape(batch, steps, heads, width // heads).transpose(0, 2, 1, 3)  # noqa: E731
    scores = jnp.einsum("bhqd,bhkd->bhqk", split(q), split(k)) / np.sqrt(width // heads)
    scores = jnp.where(jnp.tril(jnp.ones((steps, steps), bool)), scores, jnp.finfo(scores.dtype).min)
    out = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), split(v)).transpose(0, 2, 1, 3)
    x = x + out.reshape(batch, steps, width) @ p["o"]
    return x + jax.nn.gelu(layer_norm(x, p["g"], p["b"]) @ p["up"]) @ p["down"]


def block_parameters(width=8):
    return {
        "g": f32(width), "b": f32(width), "qkv": f32(width, 3 * width), "o": f32(width, width),
        "up": f32(width, 4 * width), "down": f32(4 * width, width),
    }  # fmt: skip


def language_model(embedding, layers, tokens):
    x = embedding[tokens]
    for p in layers:
        x = block(p, x)
    return jax.nn.log_softmax(x @ embedding.T)


def residual_net(ws, x):
    def conv(x, w, stride):
        names = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=names)

    x = jax.nn.relu(conv(x, ws[0], 2))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    x = jax.nn.relu(conv(jax.nn.relu(conv(x, ws[1], 2)), ws[2], 1) + conv(x, ws[3], 2))
    return jnp.mean(x, (1, 2))


def lstm(wx, wh, xs):
    def step(carry, x):
        h, s = carry
        i, f, g, o = jnp.split(x @ wx + h @ wh, 4, -1)
        s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h

    zero = jnp.zeros((xs.shape[1], wh.shape[0]), xs.dtype)
    return lax.scan(step, (zero, zero), xs)


def adam(p, g, m, v, t):
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    update = lambda p, m, v: p - 1e-3 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)  # noqa: E731
    return jax.tree.map(update, p, m, v), m, v


def stencil(u):
    def step(_, u):
        around = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].add(0.1 * around)

    return lax.fori_loop(0, 7, step, u)


def cholesky_solve(a, b):
    lower = jnp.linalg.cholesky(a @ a.T / a.shape[0] + jnp.eye(a.shape[0]))
    y = lax.linalg.triangular_solve(lower, b, left_side=True, lower=True)
    return lax.linalg.triangular_solve(lower, y, left_side=True, lower=True, transpose_a=True)


def attention(q, k, v):
    return jax.nn.softmax(jnp.einsum("hqd,hkd->hqk", q, k) / np.sqrt(q.shape[-1])) @ v


def fft_convolution(x, k):
    return jnp.fft.irfft2(jnp.fft.rfft2(x) * jnp.fft.rfft2(k), s=k.shape)


MANY = [f32(12, 10), f32(10), f32(3, 4, 5)]
TOKENS = np.random.default_rng(2).integers(0, 16, (2, 6)).astype(np.int32)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mlp_step": (mlp_step, ([(f32(12, 16), f32(16)), (f32(16, 5), f32(5))], f32(8, 12), np.arange(8, dtype=np.int32) % 5)),
    "language_model": (language_model, (f32(16, 8), [block_parameters() for _ in range(3)], TOKENS)),
    "block_gradient": (jax.grad(lambda p, x: block(p, x).sum(), (0, 1)), (block_parameters(), f32(2, 6, 8))),
    "residual_net": (residual_net, ([f32(5, 5, 3, 4), f32(3, 3, 4, 6), f32(3, 3, 6, 6), f32(1, 1, 4, 6)], f32(2, 16, 16, 3))),
    "lstm": (lstm, (f32(6, 20), f32(5, 20), f32(7, 3, 6))),
    "attention": (attention, (f32(3, 9, 4), f32(3, 9, 4, seed=2), f32(3, 9, 4, seed=3))),
    "adam": (adam, (MANY, MANY, MANY, [np.abs(a) for a in MANY], np.float32(10))),
    "top_k": (lambda x: lax.top_k(x, 5), (f32(4, 301),)),
    "argsort": (lambda x: (jnp.argsort(x), jnp.sort(x)), (f32(1000),)),
    "fft_convolution": (fft_convolution, (f32(3, 16, 12), f32(16, 12))),
    "cholesky_solve": (cholesky_solve, (f32(24, 24), f32(24, 5))),
    "stencil": (stencil, (f32(17, 19),)),
    "cumulative": (lambda x: (jnp.cumsum(x, -1), lax.cummax(x, axis=1)), (f32(4, 200),)),
    "random_normal": (lambda key: jax.random.normal(jax.random.wrap_key_data(key), (333,)), (np.array([0, 7], np.uint32),)),
}  # fmt: skip


def assert_close(ours: Any, theirs: Any) -> None:
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=0, atol=TOLERANCE * max(float(np.abs(b).max()), 1e-30))


@pytest.mark.parametrize("name", PROGRAMS)
def test_jit_agrees_with_xla(name: str) -> None:
    function, arguments = PROGRAMS[name]
    assert_close(arm.jit(function)(*arguments), jax.jit(function)(*arguments))


@pytest.mark.parametrize("name", PROGRAMS)
def test_cpu_agrees_with_the_interpreter(name: str) -> None:
    function, arguments = PROGRAMS[name]
    lowered = jax.jit(function).lower(*arguments)
    leaves = [np.asarray(x) for x in jax.tree.leaves(arguments)]
    assert_close(arm.compile(arm.load(lowered))(*leaves), arm.evaluate(lowered, *leaves))


@pytest.mark.parametrize("name", PROGRAMS)
def test_temporaries_are_packed(name: str) -> None:
    function, arguments = PROGRAMS[name]
    memory = arm.compile(jax.jit(function).lower(*arguments)).memory()
    assert memory["temporary_bytes"] <= 1.2 * memory["max_live_bytes"] + 1024
