"""Whole JAX functions, small, in the interpreter and on XLA:CPU."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from against_xla import assert_same
from jax import lax


def f32(*shape):
    return jnp.asarray(np.random.default_rng(3).normal(size=shape), jnp.float32)


def mlp_loss(weights, x, y):
    h = x
    for w in weights:
        h = jnp.tanh(h @ w)
    return jnp.mean((h - y) ** 2)


def attention(q, k, v):
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / np.sqrt(q.shape[-1])
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf)) @ v


def convolution(x, w):
    return lax.conv_general_dilated(
        x, w, (2, 1), ((1, 2), (-1, 3)), lhs_dilation=(1, 2), rhs_dilation=(2, 1), feature_group_count=2)  # fmt: skip


def pooled(x):
    return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID") ** 2).sum()


def dilated_sum(x):
    return lax.reduce_window(
        x, np.float32(0), lax.add, (1, 3, 3), (1, 2, 2), "SAME", base_dilation=(1, 2, 1), window_dilation=(1, 1, 2))  # fmt: skip


PROGRAMS = {
    "mlp_gradient": (jax.value_and_grad(mlp_loss), [f32(16, 32), f32(32, 4)], f32(8, 16), f32(8, 4)),
    "attention": (attention, f32(2, 6, 8), f32(2, 6, 8), f32(2, 6, 8)),
    "attention_gradient": (jax.grad(lambda *x: attention(*x).sum(), (0, 1, 2)), f32(2, 6, 8), f32(2, 6, 8), f32(2, 6, 8)),
    "layer_norm_gelu": (lambda x: jax.nn.gelu((x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)), f32(4, 16)),
    "reductions": (lambda x: (x.sum(), x.max(0), x.mean((0, 2)), x.argmax(1), x.prod(-1), x.min()), f32(5, 7, 9)),
    "sorts": (lambda x: (jnp.sort(x, 0), jnp.argsort(x[:, 0]), lax.top_k(x, 2), jnp.unique(x, size=60)), f32(20, 3)),
    "cumulative": (lambda x: (jnp.cumsum(x, 0), lax.cummax(x), lax.cumlogsumexp(x), lax.associative_scan(jnp.add, x)), f32(20, 3)),
    "scatters": (
        lambda x, i, u: (x.at[i].add(u), x.at[i].set(u, mode="drop"), x.at[i].max(u), x.at[:, 1].mul(2)),
        f32(10, 3), jnp.array([1, 5, 7, 20]), f32(4, 3)),
    "gathers": (lambda x, i: (x[i], x[i, 1], jnp.take(x, i, mode="clip")), f32(10, 3), jnp.array([1, 5, -1, 20])),
    "convolution": (convolution, f32(2, 4, 9, 8), f32(6, 2, 3, 3)),
    "convolution_gradient": (jax.grad(lambda w, x: (lax.conv_general_dilated(x, w, (2, 2), "SAME") ** 2).sum()), f32(6, 4, 3, 3), f32(2, 4, 9, 8)),
    "batch_groups": (lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", batch_group_count=2), f32(4, 4, 9, 8), f32(6, 4, 3, 3)),
    "pooling_gradient": (jax.grad(pooled), f32(2, 8, 8)),
    "dilated_window": (dilated_sum, f32(2, 8, 8)),
    "scan": (lambda x: lax.scan(lambda c, y: (c * 0.5 + y, c), jnp.zeros(3, jnp.float32), x), f32(30, 3)),
    "while": (lambda x: lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] * 1.5), (0, x)), f32(3)),
    "switch": (lambda i, x: lax.switch(i, [lambda x: x + 1, lambda x: x * 2, jnp.sin], x), 7, f32(3)),
    "slices": (lambda x, i: (lax.dynamic_slice(x, (i, i), (3, 3)), lax.dynamic_update_slice(x, x[:2], (7, i)), x[::-1, ::2]), f32(8, 8), -2),
    "shapes": (lambda x: (jnp.roll(x, 2), jnp.concatenate([x, x[:2]]), x.reshape(-1, 2), x.T, jnp.tile(x, 2), jnp.repeat(x, 3, 0)), f32(4, 6)),
    "pads": (lambda x: lax.pad(x, np.float32(1), ((1, -1, 2), (-1, 3, 0))), f32(4, 5)),
    "bf16": (lambda x: (x @ x, jnp.exp(x), x.sum()), f32(8, 8).astype(jnp.bfloat16)),
    "int8_dot": (lambda x: lax.dot(x, x, preferred_element_type=jnp.int32), jnp.arange(-50, 50, dtype=jnp.int8).reshape(10, 10)),
    "complex": (lambda x: (x * x, jnp.exp(x), jnp.sqrt(x), jnp.abs(x), x / (x + 1), jnp.log(x), x @ x.T), f32(4, 5) + 1j * f32(4, 5)),
    "special": (lambda x: (jax.scipy.special.gammaln(x), jax.scipy.special.erfinv(x / 5), jax.scipy.special.i0e(x)), jnp.abs(f32(40))),
    "random": (lambda k: (jax.random.normal(k, (17, 3)), jax.random.permutation(k, 50), jax.random.bits(k, (5,), "uint8")), jax.random.PRNGKey(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_agree(name):
    function, *arguments = PROGRAMS[name]
    assert_same(function, *arguments, tolerance=2e-2 if name == "bf16" else 5e-5)


@pytest.mark.parametrize("algorithm", ["DEFAULT", "THREE_FRY", "PHILOX"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_random_bits_and_states_are_xla_s_bit_by_bit(algorithm, dtype):
    key = jnp.array([5, 2**64 - 2], np.uint64)  # the counter is about to overflow
    for shape in [(), (1,), (7,), (7, 3), (6, 4), (3, 4), (3, 5, 1), (0,)]:
        assert_same(
            lambda k, shape=shape: lax.rng_bit_generator(
                k, shape, dtype, algorithm=getattr(lax.RandomAlgorithm, "RNG_" + algorithm)),
            key)  # fmt: skip
