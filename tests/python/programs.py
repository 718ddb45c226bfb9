"""JAX programs and HLO texts that between them use most of what the wire format can say."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxlib import _hlo

ATTRIBUTES = """HloModule attributes

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b)
}

ge { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = pred[] compare(p, q), direction=GE
}

negate { n = f32[] parameter(0)  ROOT m = f32[] negate(n)
}

fused { f = f32[8,8] parameter(0)  ROOT g = f32[8,8] negate(f)
}

ENTRY main {
  w = f32[8,8] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, parameter_replication={true}
  x = f32[8] parameter(1), sharding={mesh['x'=2,'y'=2], [{'y'}]}, frontend_attributes={a="b\\"c",m={x=1},z="q"}
  k = u64[3] parameter(2), sharding={devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual} metadata={op_name="a"}}
  t = (f32[4], (f32[], f32[2])) parameter(3), sharding={{replicated}, {maximal device=3}, {devices=[2]0,1}},
    origin={({"a"}, ({"b" {1}}, {"c"}))}
  o = f32[] constant(0)
  index = s32[] constant(1)
  yes = pred[] constant(true)
  indices = s32[4,1] constant({{0},{1},{2},{3}})
  accurate = f32[8,8] tanh(w), result_accuracy={mode=highest}, statistics={visualizing_index=1,stat-1=33,stat-2=44}
  tolerant = f32[8,8] tanh(accurate), result_accuracy={tolerance={atol=0.5,rtol=1,ulps=2}}
  dot = f32[8,8] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    operand_precision={highest,default}, algorithm=dot_bf16_bf16_f32_x3
  batch = f32[8,8] dot(w, w), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={}, rhs_contracting_dims={}
  chol = f32[8,8] cholesky(w), lower=true
  solve = f32[8,8] triangular-solve(w, w), left_side=true, unit_diagonal=true, transpose_a=ADJOINT
  total = pred[8,8] compare(w, w), direction=LT, type=TOTALORDER
  bits = (u64[3], u32[8]) rng-bit-generator(k), algorithm=rng_philox
  uniform = f32[8,8] rng(o, o), distribution=rng_uniform
  mapped = f32[8,8] map(w, w), dimensions={0,1}, to_apply=add
  sorted = f32[8,8] sort(w), dimensions={0}, is_stable=true, to_apply=ge
  sas = f32[8,8] select-and-scatter(w, w, o), window={size=1x1}, select=ge, scatter=add
  bn = (f32[8,8], f32[8], f32[8]) batch-norm-training(w, x, x), epsilon=0.001, feature_index=1
  narrow = f32[8,8] reduce-precision(w), exponent_bits=5, mantissa_bits=10
  z = c64[8,8] convert(w)
  transform = c64[8,8] fft(z), fft_type=FFT, fft_length={8}
  branch = f32[] conditional(yes, o, o), true_computation=negate, false_computation=negate
  branches = f32[] conditional(index, o, o, o), branch_computations={negate, negate, negate}
  called = f32[] call(o), to_apply=negate, is_composite=true,
    frontend_attributes={composite.attributes={n = 1 : i32},composite.name="foo.bar"}
  fusion = f32[8,8] fusion(w), kind=kLoop, calls=fused
  padded = f32[9,18] pad(w, o), padding=0_1x1_2_1
  sliced = f32[4,3] slice(w), slice={[0:8:2],[1:4]}
  dynamic = f32[2,2] dynamic-slice(w, index, index), dynamic_slice_sizes={2,2}
  gathered = f32[4,8] gather(w, indices), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,8}, indices_are_sorted=true
  scattered = f32[8,8] scatter(w, indices, gathered), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=add
  image = f32[1,8,8,8] broadcast(scattered), dimensions={1,2}, metadata={op_type="r" op_name="b" source_file="f.py" source_line=3}
  kernel = f32[3,3,8,8] broadcast(w), dimensions={2,3}
  conv = f32[1,6,6,8] convolution(image, kernel), window={size=3x3 rhs_reversal=1x0 pad=0_0x-1_1},
    dim_labels=b01f_01io->b01f
  outside = f32[8,8] custom-call(w, x), custom_call_target="a\\"b", api_version=API_VERSION_TYPED_FFI,
    operand_layout_constraints={f32[8,8]{0,1}, f32[8]{0}}, output_to_operand_aliasing={{}: (0, {})},
    custom_call_has_side_effect=true, schedule=SCHEDULE_LATEST, backend_config="a\\"b\\n"
  json = f32[8,8] negate(w), backend_config={"known": {"n": "10"}}, control-predecessors={outside}
  start = token[] after-all()
  feed = (f32[2], token[]) infeed(start), infeed_config="a\\"c"
  ROOT out = (f32[8,8], f32[1,6,6,8]) tuple(json, conv)
}
"""

COLLECTIVES = """HloModule collectives

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b)
}

ENTRY main {
  p = f32[4,4] parameter(0)
  a = f32[4,4] all-reduce(p), to_apply=add, replica_groups={{0,1},{2,3}}, channel_id=1, use_global_device_ids=true
  b = f32[4,4] all-reduce(p), to_apply=add, replica_groups=[2,4]<=[4,2]T(1,0), constrain_layout=true
  c = f32[4,4] all-reduce(p), to_apply=add, replica_groups=mesh['x'=2,'y'=4] {'y'}, channel_id=2, use_global_device_ids=true
  d = f32[4,4] collective-permute(p), source_target_pairs={{0,1},{1,0}}, channel_id=3
  e = f32[8,4] all-gather(p), dimensions={0}, replica_groups={{0,1}}
  f = f32[4,4] all-to-all(p), dimensions={0}, replica_groups={{0,1}}
  g = (f32[4,4], f32[4,4]) all-to-all(p, p), replica_groups={{0,1}}
  h = f32[2,4] reduce-scatter(p), dimensions={0}, to_apply=add, replica_groups={{0,1}}
  s = ((f32[4,4]), f32[4,4], s32[]) custom-call-start(p), custom_call_target="foo", async_execution_thread="host"
  u = ((f32[4,4]), f32[4,4], s32[]) custom-call-update(s)
  v = f32[4,4] custom-call-done(u)
  cs = (f32[4,4], f32[4,4], u32[]) copy-start(v), cross_program_prefetch_index=0
  cd = f32[4,4] copy-done(cs)
  ROOT out = (f32[4,4]) tuple(cd)
}
"""

SHARDINGS = [
    "{mesh['x'=4,'y'=2], [{'x':(2)2}, {?}], replicated={'y'}}",
    "{mesh['x'=4,'y'=2], [{'x', ?}, {}], unreduced={'y'}, metadata={{op_name=\"a\"}}}",
    "{mesh['x'=2,'y'=2], device_ids=(0,2,1,3), [{'x'}, {}]}",
    "{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{'x'}, {}]}",
    "{mesh['x'=2,'y'=2,'z'=2], [{'x', 'y'}, {}], manual={'z'}}",
    "{mesh[], [{}, {}]}",
    "{maximal_mesh[device_id=3]}",
    "{devices=[2,1,2,2]0,2,1,3,4,6,5,7 last_tile_dims={manual, replicated}}",
    "{devices=[2,2]<=[4] shard_as 5}",
    '{devices=[2,2]<=[4] metadata={{op_name="a"}, {op_name="b" source_line=3}}}',
    "{replicated shard_like 3}",
    '{maximal device=1 metadata={op_name="x"}}',
    "{unknown}",
    "{manual}",
    "{unreduced}",
]

LITERALS = [
    "pred[3] constant({true,false,true})",
    "s4[5] constant({1,2,3,-4,5})",
    "u4[3] constant({1,15,0})",
    "s2[3] constant({1,-2,0})",
    "u2[3] constant({3,1,0})",
    "s8[2] constant({-128,127})",
    "u8[2] constant({0,255})",
    "s16[2] constant({-32768,32767})",
    "u16[2] constant({0,65535})",
    "s32[2] constant({-2147483648,5})",
    "u32[2] constant({0,4294967295})",
    "s64[2] constant({-9223372036854775808,5})",
    "u64[2] constant({0,18446744073709551615})",
    "f16[4] constant({1.5,-inf,nan,-0})",
    "bf16[3] constant({1.5,inf,-2})",
    "f32[4] constant({1.5,inf,nan,-0})",
    "f64[3] constant({1.5,-inf,1e300})",
    "f8e5m2[2] constant({1.5,-2})",
    "f8e4m3[2] constant({1.5,-2})",
    "f8e4m3fn[2] constant({1.5,-2})",
    "f8e4m3b11fnuz[2] constant({1.5,-2})",
    "f8e5m2fnuz[2] constant({1.5,-2})",
    "f8e4m3fnuz[2] constant({1.5,-2})",
    "f8e3m4[2] constant({1.5,-2})",
    "f8e8m0fnu[2] constant({1,2})",
    "f4e2m1fn[2] constant({1.5,-2})",
    "c64[2] constant({(1,2),(-3,inf)})",
    "c128[2] constant({(1,2),(-3,0)})",
    "f32[2,3]{0,1} constant({{1,2,3},{4,5,6}})",
    "s4[2,3,2]{1,2,0} constant({{{1,2},{3,4},{5,6}},{{-1,-2},{-3,-4},{-5,-6}}})",
    "f32[2,0] constant({{},{}})",
]


def xla_proto(text: str) -> bytes:
    """What XLA writes for an HLO text."""
    return _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def xla_text(proto: bytes) -> str:
    """What XLA reads in a proto."""
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return _hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string(options)


def single(instruction: str) -> str:
    return f"HloModule one\n\nENTRY main {{\n  ROOT x = {instruction}\n}}\n"


def _mlp(params: Any, x: Any) -> Any:
    for w, b in params:
        x = jnp.tanh(x @ w + b)
    return jnp.sum(x**2)


def _scan(x: Any) -> Any:
    return lax.scan(lambda c, row: (c * 0.5 + row, jnp.sin(c)), x[0], x)


def _loop(n: Any, x: Any) -> Any:
    return lax.while_loop(
        lambda s: s[0] < n, lambda s: (s[0] + 1, lax.cond(s[0] % 2 == 0, jnp.sin, jnp.cos, s[1])), (0, x)
    )


def _conv(x: Any, k: Any) -> Any:
    y = lax.conv_general_dilated(x, k, (1, 2), "SAME", rhs_dilation=(2, 1))
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def _f32(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "mlp_gradient": (jax.value_and_grad(_mlp), ([(_f32(8, 8), _f32(8)), (_f32(8, 4), _f32(4))], _f32(3, 8))),
    "scan": (_scan, (_f32(5, 4),)),
    "loops_and_branches": (_loop, (7, _f32(4))),
    "convolution": (_conv, (_f32(2, 3, 8, 8), _f32(4, 3, 3, 3))),
    "sorting": (lambda x: (jnp.argsort(x), lax.top_k(x, 3), jnp.median(x)), (_f32(9),)),
    "indexing": (lambda x, i: x.at[i].add(2.0)[i, ::2], (_f32(6, 6), np.array([1, 4, 5]))),
    "linear_algebra": (
        lambda a: jnp.linalg.cholesky(a @ a.T + 8 * jnp.eye(4)) @ jnp.linalg.inv(a + 9 * jnp.eye(4)),
        (_f32(4, 4),),
    ),
    "fourier": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2j), (_f32(3, 16),)),
    "random": (
        lambda key: jax.random.normal(jax.random.wrap_key_data(key), (5,)),
        (np.array([0, 7], np.uint32),),
    ),
    "special": (lambda x: (lax.lgamma(x), lax.erf_inv(x / 9), jax.nn.gelu(x), jnp.sinc(x)), (_f32(4, 4),)),
    "integers": (
        lambda x: (x // 3, x % 5, x << 2, lax.population_count(x), lax.clz(x)),
        (np.arange(-5, 20, dtype=np.int32),),
    ),
    "narrow_floats": (
        lambda x: (
            x.astype(jnp.bfloat16) @ x.T.astype(jnp.bfloat16),
            x.astype(jnp.float8_e4m3fn).astype(jnp.float16),
        ),
        (_f32(4, 6),),
    ),
}


def lower(name: str) -> Any:
    function, arguments = PROGRAMS[name]
    return jax.jit(function).lower(*arguments)
