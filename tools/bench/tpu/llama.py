"""A Llama-3.1 training step in JAX, fully sharded by hand: each device holds a part of every weight, gathers a layer's
weights when it needs them, and scatters the sums of their gradients.

    step, arguments = training_step(LLAMA_8B, devices=8, batch=3)
    arm.simulate(step, *arguments, topology="v6e:2x4")

Sizes are those of the published models. What differs from the recipes whose step times we compare with is said in
docs/simulator.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P

AXIS = "fsdp"
SAVED = ("layer_input", "query", "key", "value", "attention_out")


@dataclass(frozen=True)
class Config:
    vocabulary: int
    width: int
    layers: int
    heads: int
    kv_heads: int
    head: int
    hidden: int


LLAMA_8B = Config(128256, 4096, 32, 32, 8, 128, 14336)
LLAMA_70B = Config(128256, 8192, 80, 64, 8, 128, 28672)
MISTRAL_7B = Config(32000, 4096, 32, 32, 8, 128, 14336)


def weight_shapes(c: Config) -> dict[str, tuple[int, ...]]:
    """Of one layer; the second dimension is the one that is cut over the devices."""
    return {
        "query": (c.width, c.heads * c.head),
        "key": (c.width, c.kv_heads * c.head),
        "value": (c.width, c.kv_heads * c.head),
        "out": (c.heads * c.head, c.width),
        "gate": (c.width, c.hidden),
        "up": (c.width, c.hidden),
        "down": (c.hidden, c.width),
        "norm_attention": (1, c.width),
        "norm_mlp": (1, c.width),
    }


# Attention, block by block: a head at a time, so that the scores of a block stay on the chip.


def _scores(q: Any, k: Any, diagonal: bool) -> Any:
    s = lax.dot_general(q, k, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
    s *= q.shape[1] ** -0.5
    if diagonal:
        rows, columns = (lax.broadcasted_iota(jnp.int32, s.shape, d) for d in (0, 1))
        s = jnp.where(rows >= columns, s, -1e30)
    return s


def _dot(a: Any, b: Any, over: tuple[int, int]) -> Any:
    return lax.dot_general(a, b, (((over[0],), (over[1],)), ((), ())), preferred_element_type=jnp.float32)


def _blocks(x: Any, size: int) -> list[Any]:
    return [x[i : i + size] for i in range(0, x.shape[0], size)]


def _head_forward(block: int, q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    outs, sums = [], []
    for i, q_i in enumerate(_blocks(q, block)):
        top = jnp.full((q_i.shape[0], 1), -1e30, jnp.float32)
        total, out = jnp.zeros_like(top), jnp.zeros(q_i.shape, jnp.float32)
        for j, (k_j, v_j) in enumerate(zip(_blocks(k, block)[: i + 1], _blocks(v, block), strict=False)):
            s = _scores(q_i, k_j, i == j)
            higher = jnp.maximum(top, jnp.max(s, 1, keepdims=True))
            p, fade = jnp.exp(s - higher), jnp.exp(top - higher)
            total = total * fade + jnp.sum(p, 1, keepdims=True)
            out = out * fade + _dot(p.astype(v.dtype), v_j, (1, 0))
            top = higher
        outs.append((out / total).astype(q.dtype))
        sums.append(top + jnp.log(total))
    return jnp.concatenate(outs), jnp.concatenate(sums)


def _head_backward(
    block: int, q: Any, k: Any, v: Any, out: Any, sums: Any, d_out: Any
) -> tuple[Any, Any, Any]:
    delta = jnp.sum(out.astype(jnp.float32) * d_out.astype(jnp.float32), 1, keepdims=True)
    count = q.shape[0] // block
    zeros = [jnp.zeros((block, q.shape[1]), jnp.float32) for _ in range(count)]
    d_q, d_k, d_v = list(zeros), list(zeros), list(zeros)
    parts = [_blocks(x, block) for x in (q, k, v, sums, d_out, delta)]
    for i in range(count):
        for j in range(i + 1):
            q_i, k_j, v_j, sums_i, d_i, delta_i = (parts[n][i if n in (0, 3, 4, 5) else j] for n in range(6))
            p = jnp.exp(_scores(q_i, k_j, i == j) - sums_i)
            d_v[j] += _dot(p.astype(v.dtype), d_i, (0, 0))
            d_s = (p * (_dot(d_i, v_j, (1, 1)) - delta_i) * q.shape[1] ** -0.5).astype(q.dtype)
            d_k[j] += _dot(d_s, q_i, (0, 0))
            d_q[i] += _dot(d_s, k_j, (1, 0))
    return tuple(jnp.concatenate(d).astype(q.dtype) for d in (d_q, d_k, d_v))  # type: ignore[return-value]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def attention(block: int, q: Any, k: Any, v: Any) -> Any:
    """Causal. q is [batch x heads, positions, head]; k and v have fewer heads, each read by several of q."""
    return _attention_forward(block, q, k, v)[0]


def _attention_forward(block: int, q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    group = q.shape[0] // k.shape[0]

    def one(_: Any, n: Any) -> tuple[None, tuple[Any, Any]]:
        return None, _head_forward(block, q[n], k[n // group], v[n // group])

    _, (out, sums) = lax.scan(one, None, jnp.arange(q.shape[0]))
    return out, (q, k, v, out, sums)


def _attention_backward(block: int, saved: Any, d_out: Any) -> tuple[Any, Any, Any]:
    q, k, v, out, sums = saved
    group = q.shape[0] // k.shape[0]

    def one(_: Any, n: Any) -> tuple[None, Any]:
        return None, _head_backward(block, q[n], k[n // group], v[n // group], out[n], sums[n], d_out[n])

    _, (d_q, d_k, d_v) = lax.scan(one, None, jnp.arange(q.shape[0]))
    add = lambda d: d.reshape(-1, group, *d.shape[1:]).astype(jnp.float32).sum(1).astype(d.dtype)  # noqa: E731
    return d_q, add(d_k), add(d_v)


attention.defvjp(_attention_forward, _attention_backward)


# The model, on one device's part of the batch.


def gather(shard: Any) -> Any:
    """A whole weight in bf16; its transpose is a reduce-scatter."""
    return lax.all_gather(shard.astype(jnp.bfloat16), AXIS, axis=1, tiled=True)


def norm(x: Any, weight: Any) -> Any:
    wide = x.astype(jnp.float32)
    scale = lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
    return (wide * scale).astype(x.dtype) * weight[0]


def rotate(x: Any) -> Any:
    """Rotary positions; x is [batch, positions, heads, head]."""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * 5e5 ** (-jnp.arange(half) / half)
    sine, cosine = (f(angle)[None, :, None, :].astype(x.dtype) for f in (jnp.sin, jnp.cos))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)


def layer(c: Config, block: int, x: Any, shards: dict[str, Any]) -> Any:
    x = checkpoint_name(x, "layer_input")
    w = {name: gather(shard) for name, shard in shards.items()}
    batch, positions, _ = x.shape
    h = norm(x, w["norm_attention"])
    split = lambda t, heads: t.reshape(batch, positions, heads, c.head)  # noqa: E731
    heads_first = lambda t: t.transpose(0, 2, 1, 3).reshape(-1, positions, c.head)  # noqa: E731
    q = checkpoint_name(heads_first(rotate(split(h @ w["query"], c.heads))), "query")
    k = checkpoint_name(heads_first(rotate(split(h @ w["key"], c.kv_heads))), "key")
    v = checkpoint_name(heads_first(split(h @ w["value"], c.kv_heads)), "value")
    a = attention(block, q, k, v).reshape(batch, c.heads, positions, c.head).transpose(0, 2, 1, 3)
    x = x + checkpoint_name(a.reshape(batch, positions, -1) @ w["out"], "attention_out")
    h = norm(x, w["norm_mlp"])
    return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]


def loss(c: Config, block: int, chunk: int, remat: Any, weights: Any, tokens: Any, targets: Any) -> Any:
    x = gather(weights["embedding"])[tokens]
    body = jax.checkpoint(partial(layer, c, block), policy=remat)
    x, _ = lax.scan(lambda x, shards: (body(x, shards), None), x, weights["layers"])
    x = norm(x, gather(weights["norm"])).reshape(-1, chunk, c.width)
    head = gather(weights["head"])

    @jax.checkpoint
    def part(total: Any, xs: Any) -> Any:
        x, target = xs
        logits = _dot(x, head, (1, 0))
        picked = jnp.take_along_axis(logits, target[:, None], 1)[:, 0]
        return total + jnp.sum(jax.nn.logsumexp(logits, 1) - picked), None

    total, _ = lax.scan(part, jnp.float32(0), (x, targets.reshape(-1, chunk)))
    return total / (targets.size * lax.axis_size(AXIS))


def adamw(p: Any, g: Any, m: Any, v: Any, t: Any) -> tuple[Any, Any, Any]:
    g = g.astype(jnp.float32)
    m, v = 0.9 * m + 0.1 * g, 0.95 * v + 0.05 * g * g
    step = (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.95**t)) + 1e-8)
    return p - 3e-5 * (step + 0.1 * p), m, v


def training_step(
    c: Config,
    devices: int,
    batch: int,
    positions: int = 8192,
    block: int = 2048,
    chunk: int = 2048,
    save: tuple[str, ...] = SAVED,
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The step as a jitted function and the shapes of its arguments, with shardings; batch is of one device."""
    mesh = AbstractMesh((devices,), (AXIS,))
    remat = jax.checkpoint_policies.save_only_these_names(*save)

    def of_device(state: Any, tokens: Any, targets: Any) -> Any:
        weights, m, v, t = state
        value, grads = jax.value_and_grad(partial(loss, c, block, min(chunk, tokens.size), remat))(
            weights, tokens, targets
        )
        new = jax.tree.map(lambda p, g, m, v: adamw(p, g, m, v, t), weights, grads, m, v)
        is_new = lambda x: isinstance(x, tuple)  # noqa: E731
        pick = lambda n: jax.tree.map(lambda x: x[n], new, is_leaf=is_new)  # noqa: E731
        return (pick(0), pick(1), pick(2), t + 1), lax.psum(value, AXIS)

    cut = P(None, AXIS)
    shapes: dict[str, Any] = {
        "embedding": (c.vocabulary, c.width),
        "head": (c.width, c.vocabulary),
        "norm": (1, c.width),
    }
    weights = {name: _shape(mesh, s, jnp.float32, cut) for name, s in shapes.items()}
    specs: dict[str, Any] = dict.fromkeys(shapes, cut)
    stacked = P(None, None, AXIS)
    layers = weight_shapes(c)
    weights["layers"] = {n: _shape(mesh, (c.layers, *s), jnp.float32, stacked) for n, s in layers.items()}
    specs["layers"] = dict.fromkeys(layers, stacked)
    rows = P(AXIS)
    state_specs = (specs, specs, specs, P())
    step = jax.shard_map(
        of_device,
        mesh=mesh,
        in_specs=(state_specs, rows, rows),
        out_specs=(state_specs, P()),
        check_vma=False,
    )
    tokens = _shape(mesh, (devices * batch, positions), jnp.int32, rows)
    state = (weights, weights, weights, _shape(mesh, (), jnp.float32, P()))
    return jax.jit(step, donate_argnums=0), (state, tokens, tokens)


def _shape(mesh: Any, shape: tuple[int, ...], dtype: Any, spec: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))
