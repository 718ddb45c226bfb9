"""Compiled programs: every kind of argument in, arrays out, reports."""

import threading

import armillary as arm
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from tests.python import programs

ADD = """HloModule add

ENTRY main {
  a = f32[2,3] parameter(0)
  b = f32[2,3] parameter(1)
  ROOT c = f32[2,3] add(a, b)
}
"""

COLUMNS = """HloModule columns, entry_computation_layout={(f32[4,8]{0,1})->f32[8,4]{0,1}}

ENTRY main {
  x = f32[4,8]{0,1} parameter(0)
  ROOT t = f32[8,4]{0,1} transpose(x), dimensions={1,0}
}
"""

TUPLES = """HloModule tuples

ENTRY main {
  p = (f32[2], (s32[], f32[2])) parameter(0)
  a = f32[2] get-tuple-element(p), index=0
  n = (s32[], f32[2]) get-tuple-element(p), index=1
  i = s32[] get-tuple-element(n), index=0
  b = f32[2] get-tuple-element(n), index=1
  s = f32[2] add(a, b)
  t = (s32[], f32[2]) tuple(i, s)
  ROOT r = ((s32[], f32[2]), f32[2]) tuple(t, a)
}
"""


@pytest.mark.parametrize("target", ["cpu", "interp"])
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_programs_agree_with_xla(name: str, target: str) -> None:
    function, arguments = programs.PROGRAMS[name]
    ours = arm.compile(programs.lower(name), target)(*arguments)
    wanted = jax.jit(function)(*arguments)
    assert jax.tree.structure(ours) == jax.tree.structure(wanted)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(wanted), strict=True):
        b = np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        tolerance = 2e-2 if a.dtype == jnp.bfloat16 else 2e-5
        np.testing.assert_allclose(
            a.astype(np.complex128), b.astype(np.complex128), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize(
    "make", [np.asarray, jnp.asarray, np.asfortranarray, lambda x: np.stack([x, x], -1)[..., 0]]
)
def test_arrays_of_any_kind_and_stride_are_taken(make) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    program = arm.compile(ADD)
    result = program(make(a), make(a * 2))
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, a * 3)


def test_dlpack_is_taken() -> None:
    class Exporter:
        def __init__(self, array: np.ndarray):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    a = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(arm.compile(ADD)(Exporter(a), a), a + a)


@pytest.mark.parametrize("order", ["C", "F"])
def test_layouts_of_the_entry_say_nothing_about_numpy_arrays(order) -> None:
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    program = arm.compile(COLUMNS)
    assert np.array_equal(program(x.copy(order)), x.T)
    assert "entry_computation_layout={(f32[4,8]{1,0})->f32[8,4]{1,0}}" in program.as_text()


def test_byte_order_of_other_machines_is_turned() -> None:
    a = np.arange(6, dtype=">f4").reshape(2, 3)
    np.testing.assert_array_equal(arm.compile(ADD)(a, a), (a + a).astype(np.float32))


def test_results_live_on_after_their_program() -> None:
    program = arm.compile(ADD)
    first = program(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
    second = program(first, first)
    del program
    np.testing.assert_array_equal(first, np.full((2, 3), 2, np.float32))
    np.testing.assert_array_equal(second, np.full((2, 3), 4, np.float32))


def test_tuples_are_nested_python_tuples() -> None:
    a, b = np.ones(2, np.float32), np.full(2, 2, np.float32)
    for value in (arm.compile(TUPLES)((a, (7, b))), arm.evaluate(TUPLES, (a, (7, b)))):
        (i, s), again = value
        assert i == 7
        np.testing.assert_array_equal(s, [3, 3])
        np.testing.assert_array_equal(again, a)


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2])
def test_narrow_integers_take_one_byte_on_both_sides(dtype) -> None:
    name = {"int4": "s4", "uint4": "u4", "int2": "s2", "uint2": "u2"}[np.dtype(dtype).name]
    text = f"HloModule m\nENTRY e {{\n a = {name}[4] parameter(0)\n b = s32[4] convert(a)\n ROOT t = ({name}[4], s32[4]) tuple(a, b)\n}}"
    low, high = int(ml_dtypes.iinfo(dtype).min), int(ml_dtypes.iinfo(dtype).max)
    values = np.array([low, high, 1, 0], np.int32)
    for same, wide in (arm.evaluate(text, values.astype(dtype)), arm.compile(text)(values.astype(dtype))):
        assert same.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(same.astype(np.int32), values)
        np.testing.assert_array_equal(wide, values)


def test_wrong_arguments_are_named() -> None:
    program = arm.compile(ADD)
    a = np.zeros((2, 3), np.float32)
    with pytest.raises(arm.UserError, match="2 arrays, not 1"):
        program(a)
    with pytest.raises(arm.UserError, match=r"f32\[2,3\]"):
        program(a, np.zeros((3, 2), np.float32))
    with pytest.raises(arm.UserError, match="f32"):
        program(a, np.zeros((2, 3), np.float64))
    with pytest.raises(arm.UserError, match="element type"):
        program(a, np.array(["x"]))


def test_a_lowered_function_is_called_like_the_function() -> None:
    def f(x, unused, *, scale):
        return {"y": x["a"] * scale, "z": x["b"]}

    x = {"a": np.ones(3, np.float32), "b": np.arange(2)}
    program = arm.compile(jax.jit(f).lower(x, np.zeros(100), scale=2.0))
    result = program(x, np.zeros(100), scale=3.0)
    np.testing.assert_array_equal(result["y"], np.full(3, 3, np.float32))
    assert result["z"].dtype == np.int32
    with pytest.raises(arm.UserError, match="structure"):
        program(x, scale=3.0)


# Bodies over scalars with more than arithmetic in them: bits of floats, as comparators of a total order have, and branches.
BODIES = {
    "bits": """HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  zero = s32[] constant(0)
  most = u32[] constant(2147483647)
  x = s32[] bitcast-convert(a)
  y = s32[] bitcast-convert(b)
  x_turned = u32[] subtract(most, u32[] bitcast-convert(a))
  y_turned = u32[] subtract(most, u32[] bitcast-convert(b))
  x_negative = pred[] compare(x, zero), direction=LT
  y_negative = pred[] compare(y, zero), direction=LT
  x_key = s32[] select(x_negative, s32[] bitcast-convert(x_turned), x)
  y_key = s32[] select(y_negative, s32[] bitcast-convert(y_turned), y)
  ROOT r = pred[] compare(x_key, y_key), direction=LT
}

ENTRY main {
  x = f32[3,50] parameter(0)
  ROOT s = f32[3,50] sort(x), dimensions={1}, to_apply=less
}""",
    "branches": """HloModule m

twice {
  p = f32[] parameter(0)
  ROOT r = f32[] add(p, p)
}

back {
  p = f32[] parameter(0)
  ROOT r = f32[] negate(p)
}

square {
  p = f32[] parameter(0)
  ROOT r = f32[] multiply(p, p)
}

body {
  p = f32[] parameter(0)
  zero = f32[] constant(0)
  which = s32[] convert(p)
  chosen = f32[] conditional(which, p, p, p), branch_computations={twice, back, square}
  positive = pred[] compare(p, zero), direction=GT
  ROOT r = f32[] conditional(positive, chosen, p), true_computation=back, false_computation=twice
}

ENTRY main {
  x = f32[3,50] parameter(0)
  ROOT s = f32[3,50] map(x), dimensions={0,1}, to_apply=body
}""",
}


TUPLE_CONSTANTS = {
    "result": "ROOT c = (f32[2], (s32[], pred[])) constant(({1,2}, (3, true)))",
    "copied": "c = (f32[2], s32[]) constant(({1,2}, 3))\n  ROOT d = (f32[2], s32[]) copy(c)",
    "element": "c = (f32[2], (s32[])) constant(({1,2}, (3)))\n  ROOT g = (s32[]) get-tuple-element(c), index=1",
    "empty": "ROOT c = () constant(())",
}


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize("name", TUPLE_CONSTANTS)
def test_constants_may_be_tuples(name: str, optimise: bool) -> None:
    text = f"HloModule m\n\nENTRY e {{\n  {TUPLE_CONSTANTS[name]}\n}}\n"
    ours, wanted = arm.compile(text, optimise=optimise)(), arm.evaluate(text)
    assert jax.tree.structure(ours) == jax.tree.structure(wanted)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", BODIES)
def test_bodies_over_scalars_are_more_than_arithmetic(name: str) -> None:
    x = np.random.default_rng(0).normal(scale=2, size=(3, 50)).astype(np.float32)
    x[:, :4] = [0.0, -0.0, np.inf, -np.inf]
    ours, wanted = arm.compile(BODIES[name])(x), arm.evaluate(BODIES[name], x)
    np.testing.assert_array_equal(ours.view(np.int32), np.asarray(wanted).view(np.int32))


def test_the_interpreter_is_asked_like_any_executable() -> None:
    program = arm.compile(ADD, target="interp")
    assert program.as_text() == program.module.to_text() == arm.load(ADD).to_text()
    assert program.cost() == arm.cost(ADD)
    assert (program.memory(), program.kernels(), program.passes()) == ({}, [], [])
    assert repr(program).endswith("for interp>")
    with pytest.raises(arm.UserError, match="takes 2 arrays, not 1"):
        program(np.ones(3, np.float32))
    twice = arm.jit(lambda x: x * 2, target="interp")
    np.testing.assert_array_equal(twice(np.arange(3)), [0, 2, 4])


def test_an_unknown_target_names_the_known_ones() -> None:
    with pytest.raises(arm.UserError, match="cpu"):
        arm.compile(ADD, target="gpu")


def test_reports_are_given() -> None:
    program = arm.compile(ADD)
    assert "ENTRY" in program.as_text()
    assert program.module.is_scheduled
    assert program.memory()["argument_bytes"] == 48
    assert program.memory()["output_bytes"] == 24
    assert program.cost()["flops"] == 6
    assert sum(k["uses"] for k in program.kernels()) >= 1
    assert any(r["pass"] == "dce" for r in program.passes())
    assert program.compile_seconds > 0


def test_a_program_runs_in_several_threads_at_once() -> None:
    program = arm.compile(ADD)
    failures = []

    def work(value: int) -> None:
        a = np.full((2, 3), value, np.float32)
        for _ in range(200):
            if not (program(a, a) == 2 * value).all():
                failures.append(value)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_shardings_mean_nothing_on_one_device() -> None:
    text = """HloModule sharded
ENTRY main {
  a = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  b = f32[4] negate(a), sharding={devices=[2]<=[2]}
  ROOT c = f32[4] exponential(b), sharding={replicated}
}
"""
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_allclose(arm.compile(text)(x), np.exp(-x), rtol=1e-6)


@pytest.mark.parametrize("state", ["u64[1]", "u64[4]", "u32[3]"])
def test_states_that_no_generator_has_are_refused(state: str) -> None:
    text = f"ENTRY e {{ s = {state} parameter(0)\n ROOT r = u32[8] rng-bit-generator(s), algorithm=rng_default }}"
    with pytest.raises(arm.UserError, match="is no state of rng_default"):
        arm.compile(text)


def test_random_bits_come_without_their_next_state_too() -> None:
    text = """HloModule bits
ENTRY main {
  s = u64[2] parameter(0)
  ROOT r = u32[1000] rng-bit-generator(s), algorithm=rng_default
}
"""
    pair = text.replace("ROOT r = u32[1000]", "ROOT r = (u64[2], u32[1000])")
    seed = np.array([1, 2], np.uint64)
    np.testing.assert_array_equal(arm.compile(text)(seed), arm.compile(pair)(seed)[1])


def test_branches_that_double_with_each_level_are_refused() -> None:
    levels = "".join(
        f"""
f{n} {{
  p = f32[] parameter(0)
  z = f32[] constant(0)
  c = pred[] compare(p, z), direction=GT
  ROOT r = f32[] conditional(c, p, p), true_computation=f{n - 1}, false_computation=f{n - 1}
}}
"""
        for n in range(1, 40)
    )
    first = "f0 {\n  p = f32[] parameter(0)\n  ROOT r = f32[] add(p, p)\n}\n"
    with pytest.raises(arm.ResourceError, match=r"would have .* instructions if each call"):
        arm.compile(
            f"HloModule m\n\n{first}{levels}\nENTRY e {{\n  x = f32[] parameter(0)\n  ROOT r = f32[] call(x), to_apply=f39\n}}\n"
        )


@pytest.mark.parametrize("count", [0, 1, 7])
def test_index_vectors_may_be_empty(count: int) -> None:
    gather = f"""ENTRY e {{
        x = f32[] parameter(0)
        i = s32[{count},0] parameter(1)
        ROOT r = f32[{count}] gather(x, i), offset_dims={{}}, collapsed_slice_dims={{}}, start_index_map={{}},
          index_vector_dim=1, slice_sizes={{}} }}"""
    scatter = f"""add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
      ENTRY e {{
        x = f32[2] parameter(0)
        i = s32[{count},0] parameter(1)
        u = f32[{count},2] parameter(2)
        ROOT r = f32[2] scatter(x, i, u), update_window_dims={{1}}, inserted_window_dims={{}},
          scatter_dims_to_operand_dims={{}}, index_vector_dim=1, to_apply=add }}"""
    nowhere = np.zeros((count, 0), np.int32)
    updates = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
    for target in ("cpu", "interp"):
        taken = arm.compile(gather, target=target)(np.float32(3), nowhere)
        np.testing.assert_array_equal(taken, np.full(count, 3, np.float32))
        added = arm.compile(scatter, target=target)(np.ones(2, np.float32), nowhere, updates)
        np.testing.assert_array_equal(added, 1 + updates.sum(0))
