"""An unmodified JAX on a pod of simulated TPUs: values from the program, seconds from the simulator."""

import armillary as arm
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from armillary import jax_plugin
from jax import lax
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import tests.jax.plugin  # noqa: F401


def _of(name: str) -> arm.sim.RunProgram:
    return [program for program in arm.sim.programs() if program.name == name][-1]


def test_the_devices_are_those_of_the_topology() -> None:
    devices = jax.devices()
    assert [d.id for d in devices] == [0, 1, 2, 3]
    assert {d.platform for d in devices} == {jax_plugin.TPU_PLATFORM}
    assert devices[0].device_kind == "TPU v5e (simulated)"
    assert [tuple(d.coords) for d in devices] == [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    assert "v5e" in repr(devices[3])
    assert devices[0].memory_stats()["bytes_limit"] == 16 * 2**30


def test_a_jitted_function_has_values_and_seconds() -> None:
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) / 4096

    @jax.jit
    def product(x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ x.T)

    y = product(x).block_until_ready()
    np.testing.assert_allclose(y, np.tanh(x @ x.T), rtol=0, atol=0.02)  # operands of bf16, as on a TPU
    once = _of("jit_product")
    assert (once.topology, once.devices, once.runs) == ("v5e:1x1", 1, 1)
    analysis = product.lower(x).compile().cost_analysis()
    assert analysis["simulated seconds"] == pytest.approx(once.seconds, rel=1e-6)
    product(x).block_until_ready()
    assert _of("jit_product").runs + once.runs >= 2
    assert arm.sim.total_seconds() >= 2 * once.seconds
    assert "jit_product on v5e:1x1" in arm.sim.report()


def test_a_sharded_function_communicates() -> None:
    mesh = Mesh(np.array(jax.devices()).reshape(4), ("x",))
    a = np.random.default_rng(0).normal(size=(64, 128)).astype(np.float32)
    rows = jax.device_put(a, NamedSharding(mesh, P("x")))

    @jax.jit
    def total(x: jax.Array) -> jax.Array:
        return jnp.sum(x * 2, 0)

    np.testing.assert_allclose(total(rows), a.sum(0) * 2, rtol=1e-5, atol=1e-4)
    run = _of("jit_total")
    assert (run.topology, run.devices, run.runs) == ("v5e:2x2", 4, 1)
    result = run.result()
    assert result.seconds == pytest.approx(run.seconds)
    assert sum(kind.seconds for kind in result.communication_by_kind.values()) > 0
    assert "exposed communication by kind" in result.report()


def test_shard_map_runs_where_its_mesh_says() -> None:
    devices = jax.devices()

    def ring(order: list[int]) -> tuple[np.ndarray, float]:
        mesh = Mesh(np.array([devices[n] for n in order]), ("x",))

        def turn(x: jax.Array) -> jax.Array:
            return lax.ppermute(x, "x", [(n, (n + 1) % 4) for n in range(4)])

        f = jax.jit(jax.shard_map(turn, mesh=mesh, in_specs=P("x"), out_specs=P("x")))
        return np.asarray(f(jnp.arange(1 << 20, dtype=jnp.float32))), _of("jit_turn").seconds

    around, seconds_around = ring([0, 1, 3, 2])  # neighbours on the 2 x 2 mesh
    across, seconds_across = ring([0, 3, 1, 2])  # every step crosses it
    np.testing.assert_array_equal(around, np.roll(np.arange(1 << 20, dtype=np.float32), 1 << 18))
    np.testing.assert_array_equal(around, across)
    assert seconds_around < seconds_across


def test_some_devices_are_a_part_of_the_pod() -> None:
    mesh = Mesh(np.array(jax.devices()[2:]), ("x",))
    f = jax.jit(
        jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()),
    )
    np.testing.assert_array_equal(f(jnp.arange(8.0)), [4, 6, 8, 10])
    assert arm.sim.programs()[-1].topology == "v5e:1x2"


def test_a_diagonal_leaves_devices_idle() -> None:
    mesh = Mesh(np.array([jax.devices()[0], jax.devices()[3]]), ("x",))
    f = jax.jit(
        jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()),
    )
    np.testing.assert_array_equal(f(jnp.arange(8.0)), [4, 6, 8, 10])
    assert arm.sim.programs()[-1].topology == "v5e:2x2"


def test_a_gradient_step_is_that_of_another_platform() -> None:
    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.mean(jax.nn.relu(jnp.matmul(x, w, precision="highest")) ** 2)

    w, x = jnp.ones((16, 8)) / 16, jnp.arange(64.0).reshape(4, 16) / 64
    value, slope = jax.jit(jax.value_and_grad(loss))(w, x)
    h = np.asarray(x) @ np.asarray(w)
    np.testing.assert_allclose(value, (h**2).mean(), rtol=1e-5)
    np.testing.assert_allclose(slope, np.asarray(x).T @ (2 * h / h.size), rtol=1e-5)


def test_layouts_are_those_of_the_values() -> None:
    turned = Format(Layout((1, 0)), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    array = jax.device_put(x, turned)
    assert array.format.layout.major_to_minor == (1, 0) and np.array_equal(array, x)
    chosen = jax.jit(lambda x: x.T + x.sum(), out_shardings=Format(Layout.AUTO))(jax.device_put(x))
    assert chosen.format.layout.major_to_minor == (1, 0) and np.array_equal(chosen, x.T + x.sum())


def test_counts_start_again() -> None:
    jax.jit(lambda x: x + 1)(jnp.ones(8)).block_until_ready()
    arm.sim.restart()
    assert arm.sim.total_seconds() == 0


def test_a_program_that_is_larger_than_the_memory_is_refused() -> None:
    # 16 GB on a v5e; compiling takes shapes only.
    shape = jax.ShapeDtypeStruct((1 << 17, 1 << 15), jnp.float32)
    with pytest.raises(jax.errors.JaxRuntimeError, match="GiB of HBM"):
        jax.jit(lambda x: x + 1).lower(shape).compile()
