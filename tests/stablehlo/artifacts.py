"""JAX programs as the artifacts that a plugin gets to compile."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import parallel
from jax.experimental.control_deps import control_dep
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from jaxlib import _jax
from jaxlib.mlir.dialects import stablehlo

VERSION = "1.17.0"
Program = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
PROGRAMS: dict[str, Program] = {}

MESH = jax.make_mesh((2, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
LINE = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))


def array(*dims: int, dtype: Any = np.float32, spec: tuple[Any, ...] | None = None) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(dims, dtype, sharding=None if spec is None else NamedSharding(MESH, P(*spec)))


def program(*arguments: Any, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = (function, arguments, options)
        return function

    return register


def lower(name: str) -> Any:
    function, arguments, options = PROGRAMS[name]
    return jax.jit(function, **options).lower(*arguments)


def artifact(lowered: Any, version: str = VERSION) -> bytes:
    module = lowered.compiler_ir("stablehlo")
    if "sdy." in str(module) and "chlo." not in str(module):  # Shardy's operations stay what they are
        return stablehlo.serialize_portable_artifact(module, version, allow_other_dialects=True)
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return _jax.mlir.serialize_portable_artifact(stream.getvalue(), version)


def quantized() -> bytes:
    one, each = "!quant.uniform<i8:f32, 0.5:-3>", "!quant.uniform<u8<1:200>:f32:1, {0.5:3, 0.25:7}>"
    text = f"""func.func @main(%x: tensor<3x2xf32>, %q: tensor<3x2x{one}>) -> tensor<3x2x{one}> {{
        %0 = stablehlo.uniform_quantize %x : (tensor<3x2xf32>) -> tensor<3x2x{each}>
        %1 = stablehlo.uniform_dequantize %0 : (tensor<3x2x{each}>) -> tensor<3x2xf32>
        %2 = stablehlo.uniform_quantize %1 : (tensor<3x2xf32>) -> tensor<3x2x{one}>
        %3 = stablehlo.add %2, %q : tensor<3x2x{one}>
        return %3 : tensor<3x2x{one}> }}"""
    return _jax.mlir.serialize_portable_artifact(text, VERSION)


@program(
    array(8, 8, spec=("a", "b")),
    array(8, 8, spec=(None, "b")),
    out_shardings=NamedSharding(MESH, P("a", "b")),
)
def sharded(x, w):
    return lax.with_sharding_constraint(x @ w, NamedSharding(MESH, P("a", None))) + 1


@program(array(8, 8, spec=(("b", "a"), None)), array(8, 8), out_shardings=(NamedSharding(MESH, P()), None))
def sharded_results(x, w):
    return x @ w, x + w


@program(array(8, 8), array(8, 8))
def shard_map(x, w):
    local = jax.shard_map(
        lambda x, w: lax.psum(x @ w.T, "b"),
        mesh=MESH,
        in_specs=(P("a", "b"), P(None, "b")),
        out_specs=P("a", None),
    )
    return local(x, w) * 2


@program(array(8, 8))
def exchanges(x):
    def local(x):
        moved = lax.ppermute(x, "d", [(0, 1), (1, 2), (2, 3)])
        everything = lax.all_gather(x, "d", tiled=True)
        return moved + lax.psum_scatter(everything, "d", tiled=True) + lax.axis_index("d")

    return jax.shard_map(local, mesh=LINE, in_specs=P("d"), out_specs=P("d"), check_vma=False)(x)


@program(array(8, 8))
def exchange_of_parts(x):
    local = partial(lax.all_to_all, axis_name="d", split_axis=1, concat_axis=0, tiled=True)
    return jax.shard_map(local, mesh=LINE, in_specs=P("d"), out_specs=P("d"))(x)


@program(array(8, 8))
def started_and_awaited(x):
    def local(x):
        started = [
            parallel.all_gather_start(x, "d", tiled=True),
            parallel.psum_start(x, "d"),
            parallel.psum_scatter_start(x @ x.T @ x, "d", scatter_dimension=1, tiled=True),
            parallel.all_to_all_start(x.T, "d", split_axis=0, concat_axis=0, tiled=True),
            parallel.ppermute_start(x, "d", [(0, 1), (1, 2), (2, 3)]),
        ]
        control_dep(started[0].x, started[1].x)
        return [s.done() for s in started]

    return jax.shard_map(local, mesh=LINE, in_specs=P("d"), out_specs=P("d"), check_vma=False)(x)


@program(np.int32(1), array(3), array(3))
def branches(p, x, y):
    return lax.switch(p, [lambda: (x, y), lambda: (y, x * 2), lambda: (x + 1, y)])


@program(np.int32(5), array(3), array(3))
def loop(n, x, y):
    return lax.fori_loop(0, n, lambda i, c: (c[0] + y, c[1] * 2 + i), (x, x))


@program(array(3), array(5, 3))
def nested_loops(c, xs):
    def body(c, x):
        return lax.fori_loop(0, 3, lambda i, d: lax.cond(d[0] > 0, lambda: d + x, lambda: d * c), c), x

    return lax.scan(body, c, xs)


@program(array(3), array(3), donate_argnums=0)
def donated(x, y):
    return x + 1, y * 2


@program(array(5, 20))
def ordered(x):
    return jnp.sort(x, 0), jnp.argsort(x, 1), lax.sort((x, -x), num_keys=2), lax.top_k(x, 2)


@program(array(2, 8, 8, 3), array(3, 3, 3, 4))
def convolutions(x, w):
    def loss(x, w):
        dims = ("NHWC", "HWIO", "NHWC")
        return (
            lax.conv_general_dilated(x, w, (1, 2), "VALID", dimension_numbers=dims, precision="highest") ** 2
        ).sum()

    return jax.grad(loss, (0, 1))(x, w)


@program(array(4, 8))
def transforms(x):
    return jnp.fft.fft(x), jnp.fft.rfft2(x), jnp.fft.irfft(jnp.fft.rfft(x))


@program(array(3))
def callbacks(x):
    jax.debug.print("x {}", x)
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), np.float32), x)


@program(np.int32(0))
def random_numbers(seed):
    key = jax.random.key(seed, impl="rbg")
    return jax.random.uniform(key, (4, 5)), jax.random.bits(key, (3,), np.uint8)


@program(array(6, 4), array(2, 4, 5), array(2, dtype=np.int32))
def ragged(x, w, groups):
    return lax.ragged_dot(x, w, groups)


@program(array(10), array(4, dtype=np.int32), array(4))
def scattered(x, i, u):
    return x.at[i].add(u), x.at[i].set(u, unique_indices=True, mode="drop"), x[i], x.at[i].mul(u)


@program(array(4, 6, 6, 2))
def pooled(x):
    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")

    return pool(x), jax.grad(lambda x: pool(x).sum())(x), jnp.cumsum(x, 1)


@program(array(4, 6))
def elementwise(x):
    i = x.astype(np.int32)
    z = lax.complex(x, x)
    return (
        [
            f(x)
            for f in (jnp.cbrt, jnp.exp2, jnp.expm1, jnp.log1p, jnp.round, jnp.sign, jnp.isfinite, jnp.tan)
        ],
        [
            x % 2,
            i % 3,
            i // 3,
            i << 2,
            i >> 1,
            ~i,
            lax.population_count(i),
            lax.clz(i),
            z.real,
            abs(z),
            jnp.exp(z),
        ],
        [lax.reduce_precision(x, 5, 10), lax.bitcast_convert_type(x, np.int32), lax.clamp(0.0, x, 1.0)],
        [jnp.where(x > 0, x, 0.0), jax.nn.gelu(x), jnp.atan2(x, x + 1), z.astype(np.int8)],
    )


@program(array(4, 6))
def element_types(x):
    types = (
        jnp.bfloat16,
        np.float16,
        jnp.float8_e4m3fn,
        jnp.int4,
        jnp.uint4,
        np.uint8,
        np.int16,
        bool,
        np.complex64,
    )
    constants = [
        jnp.arange(5, dtype=jnp.int4),
        jnp.array([True] * 20),
        jnp.array([[True, False] * 9]),
    ]
    return [x.astype(t) for t in types], constants, jnp.array([1 + 2j, 3.0]), np.array([1, -2, 3], np.int8)


@program(array(4, 6), array(6, 3))
def dots(x, w):
    narrow = [t.astype(jnp.bfloat16) for t in (x, w)]
    return (
        jnp.dot(x, w, precision="highest"),
        jnp.dot(*narrow, preferred_element_type=np.float32),
        jnp.dot(x, w, precision=lax.DotAlgorithmPreset.BF16_BF16_F32_X3),
        jax.vmap(jnp.dot)(x, x),
    )


@program(array(4, 6))
def barriers(x):
    return lax.optimization_barrier((x, x * 2)), lax.optimization_barrier(x)


@program(array(4, 6))
def foreign_calls(x):
    typed = jax.ffi.ffi_call("typed", jax.ShapeDtypeStruct((4, 6), np.float32), has_side_effect=True)
    plain = jax.ffi.ffi_call(
        "plain",
        (jax.ShapeDtypeStruct((4, 6), np.float32), jax.ShapeDtypeStruct((2,), np.int32)),
        custom_call_api_version=2,
        legacy_backend_config="a{",
    )
    attributes = {
        "a": np.int32(3),
        "b": 2.5,
        "c": 'x"\n',
        "d": np.array([1, 2, 3]),
        "e": True,
        "f": np.float32(1e-7),
    }
    return typed(x, **attributes), plain(x)


@program(array(4, 6))
def composites(x):
    return lax.composite(lambda x, scale: x * scale, name="my.op", version=3)(x, scale=np.float32(2.0))
