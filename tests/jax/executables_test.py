"""Compiled programs as JAX looks at them: text, costs, bytes, errors."""

import os
import signal
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import serialize_executable

from tests.jax.plugin import cached_in, our_devices


def square(x: jax.Array) -> jax.Array:
    return x @ x


@pytest.fixture
def compiled() -> jax.stages.Compiled:
    our_devices()
    return jax.jit(square).lower(jnp.ones((8, 8))).compile()


def test_text_and_costs(compiled: jax.stages.Compiled) -> None:
    assert (compiled.as_text() or "").startswith("HloModule jit_square")
    assert compiled.cost_analysis()["flops"] == 2 * 8**3
    assert compiled.memory_analysis().argument_size_in_bytes == 8 * 8 * 4


def test_a_forked_child_computes_on() -> None:
    """As PyTorch's and multiprocessing's workers do with functions that are compiled; new ones JAX cannot compile there."""
    x = np.ones((700, 700), np.float32)
    f = jax.jit(lambda x: jnp.sin(x @ x).sum())
    want = float(f(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX's own, about threads
        child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if float(f(x)) == want else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert float(f(x)) == want


def test_an_executable_survives_as_bytes(compiled: jax.stages.Compiled) -> None:
    loaded = serialize_executable.deserialize_and_load(
        *serialize_executable.serialize(compiled), execution_devices=jax.devices()[:1]
    )
    assert float(loaded(jnp.ones((8, 8)))[0, 0]) == 8


def test_the_compilation_cache_is_used(tmp_path: Path) -> None:
    our_devices()
    with cached_in(tmp_path):
        for _ in range(2):
            assert float(jax.jit(lambda x: x * 3 + 4)(jnp.float32(2))) == 10
            jax.clear_caches()
        kept = sorted(tmp_path.iterdir())
        assert kept
        called = jax.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x) * 5)
        assert np.isclose(called(jnp.float32(1)), 5 * np.sin(1))
        assert sorted(tmp_path.iterdir()) == kept  # a function of this process is of no use to another


def test_unknown_options_are_refused() -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match="No such compile option: 'invalid_key'"):
        jax.jit(square, compiler_options={"invalid_key": "x"})(jnp.ones((2, 2)))


def test_who_runs_out_of_memory_learns_what_holds_it() -> None:
    our_devices()
    held = jnp.ones((1000, 1000))
    with pytest.raises(
        jax.errors.JaxRuntimeError, match=r"(?s)RESOURCE_EXHAUSTED.*4\.0 MB *f32\[1000,1000\]"
    ):
        jax.jit(lambda: jnp.ones((1 << 22, 1 << 22)))().block_until_ready()
    assert held[0, 0] == 1


def test_recompilations_are_explained(capfd: pytest.CaptureFixture[str]) -> None:
    import armillary

    armillary.set_flags("explain_recompiles=true")
    try:
        doubled = jax.jit(lambda x: x * 2)
        doubled(jnp.ones(3))
        doubled(jnp.ones(4))
    finally:
        armillary.set_flags("explain_recompiles=false")
    assert "argument 0 (x) is f32[4], and was f32[3]" in capfd.readouterr().err


def test_a_program_is_dumped_where_it_says(tmp_path: Path) -> None:
    lowered = jax.jit(lambda x: x * 5 - 2).lower(jnp.ones(3))
    folder = tmp_path / "with a space"
    compiled = lowered.compile(compiler_options={"xla_dump_to": str(folder), "xla_dump_hlo_as_dot": True})
    assert np.array_equal(compiled(jnp.ones(3)), np.full(3, 3))
    assert {path.suffix for path in folder.iterdir()} == {".dot"}
    lowered.compile(compiler_options={"xla_dump_to": str(tmp_path / "text")})
    assert {path.suffix for path in (tmp_path / "text").iterdir()} == {".txt"}
    plain = lowered.compile(compiler_options={"xla_disable_hlo_passes": "layout,loop-copies,schedule,fusion"})
    assert np.array_equal(plain(jnp.ones(3)), np.full(3, 3))
    with pytest.raises(jax.errors.JaxRuntimeError, match="xla_dump_hlo_as_dot"):
        lowered.compile(compiler_options={"xla_dump_hlo_as_dot": "maybe"})
