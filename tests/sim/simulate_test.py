"""armillary.simulate: every program has a time on the simulated TPU, and the values that it has elsewhere."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import armillary as arm
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from armillary.cli import app
from jax import lax
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P
from typer.testing import CliRunner

from tests.programs.programs_test import PROGRAMS

# bf16 keeps 8 bits of an operand; what follows a product may lose a few more.
TPU_TOLERANCE = 0.05


def shapes(*dims: tuple[int, ...], dtype: Any = jnp.float32) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(d, dtype) for d in dims]


def matmul(a: Any, b: Any) -> Any:
    return a @ b


def seconds(n: int, **options: Any) -> float:
    return arm.simulate(matmul, *shapes((n, n), (n, n)), topology="v5e:1x1", **options).seconds


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_have_a_time_and_the_values_of_a_tpu(name: str) -> None:
    function, arguments = PROGRAMS[name]
    result = arm.simulate(function, *arguments, topology="v5e:1x1")
    assert result.seconds > 0
    assert sum(result.by_class.values()) == pytest.approx(result.seconds, rel=1e-6)
    for ours, theirs in zip(
        jax.tree.leaves(result.values), jax.tree.leaves(jax.jit(function)(*arguments)), strict=True
    ):
        a, b = np.asarray(ours), np.asarray(theirs)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=0, atol=TPU_TOLERANCE * max(float(np.abs(b).max()), 1e-30))


def test_products_round_as_their_precision_says() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(64, 64)).astype(np.float32) for _ in range(2))
    exact = a.astype(np.float64) @ b

    def error(precision: str) -> float:
        result = arm.simulate(lambda a, b: jnp.matmul(a, b, precision=precision), a, b, topology="v5e:1x1")
        return float(np.abs(result.values - exact).max())

    once, thrice, six = map(error, ["default", "high", "highest"])
    assert once > 50 * thrice > 50 * six
    bf16 = a.astype(jnp.bfloat16).astype(np.float32) @ b.astype(jnp.bfloat16).astype(np.float32)
    result = arm.simulate(matmul, a, b, topology="v5e:1x1")
    np.testing.assert_allclose(result.values, bf16, rtol=0, atol=1e-4)
    arm.set_flags("tpu_precision=false")
    try:
        full = arm.simulate(matmul, a, b, topology="v5e:1x1")
    finally:
        arm.set_flags("tpu_precision=true")
    np.testing.assert_allclose(full.values, exact, rtol=0, atol=1e-4)


def test_shapes_are_enough_for_a_time() -> None:
    result = arm.simulate(matmul, *shapes((1 << 15, 1 << 15), (1 << 15, 1 << 15)), topology="v5e:1x1")
    assert result.values is None
    assert 0.8 < result.mfu <= 1


def test_a_result_shows_itself_in_a_line() -> None:
    result = arm.simulate(matmul, *shapes((256, 256), (256, 256)), topology="v5e:1x1")
    shown = repr(result)
    assert shown.startswith("<simulation of jit_matmul on v5e:1x1: 0.0")
    assert "MFU" in shown and len(shown) < 120


def test_time_grows_with_size() -> None:
    times = [seconds(n) for n in (256, 512, 1000, 1024, 2048, 4096)]
    assert times == sorted(times)


def test_what_is_fused_to_a_product_is_free_until_the_vector_unit_is_the_slower() -> None:
    n = shapes((4096, 4096), (4096, 4096), dtype=jnp.bfloat16)
    plain = arm.simulate(matmul, *n, topology="v5e:1x1")
    fused = arm.simulate(lambda a, b: jax.nn.relu(a @ b), *n, topology="v5e:1x1")
    assert fused.seconds == pytest.approx(plain.seconds, rel=0.02)
    assert len([op for op in fused.ops if op.seconds > 0]) == 1


def sharded_step() -> tuple[Any, tuple[Any, ...]]:
    mesh = AbstractMesh((4,), ("x",))

    def step(w: Any, x: Any) -> Any:
        for n in range(4):
            x = jnp.tanh(x @ lax.all_gather(w[n], "x", axis=1, tiled=True))
        return x, lax.psum(jnp.sum(x), "x")

    specs = (P(None, None, "x"), P("x"))
    f = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=specs, out_specs=(P("x"), P()), check_vma=False))
    dims = ((4, 2048, 2048), (8192, 2048))
    return f, tuple(
        jax.ShapeDtypeStruct(d, jnp.bfloat16, sharding=NamedSharding(mesh, s))
        for d, s in zip(dims, specs, strict=True)
    )


def test_collectives_hide_behind_computation() -> None:
    step, arguments = sharded_step()
    together = arm.simulate(step, *arguments, topology="v5e:2x2")
    apart = arm.simulate(step, *arguments, topology="v5e:2x2", overlap=False)
    assert together.seconds <= apart.seconds
    assert together.exposed_communication_seconds < 0.8 * apart.exposed_communication_seconds
    assert together.devices == 4
    assert together.communication_seconds > 0
    kinds = together.communication_by_kind
    assert set(kinds) == {"all-gather", "all-reduce"}
    assert sum(kind.seconds for kind in kinds.values()) == pytest.approx(together.communication_seconds)
    assert sum(kind.exposed_seconds for kind in kinds.values()) == pytest.approx(
        together.exposed_communication_seconds
    )
    assert apart.overlap == []
    (overlap,) = together.overlap
    assert overlap.collectives == 5
    assert overlap.lower_bound <= overlap.after < overlap.before
    report = together.report()
    for line in ["exposed communication by kind", "all-gather, of", "5 collectives, "]:
        assert line in report


def test_a_topology_that_does_not_fit_the_program_is_refused() -> None:
    step, arguments = sharded_step()
    with pytest.raises(arm.UserError, match="written for 4 devices, but the topology has 16"):
        arm.simulate(step, *arguments, topology="v5e:4x4")


@pytest.mark.parametrize(
    ("topology", "message"),
    [("v9:2x2", "v9"), ("v5e", "no shape"), ("v5e:0x2", "0x2"), ("v5e:64x64", "64"), ("v5e:2xx", "2xx")],
)
def test_a_topology_that_does_not_exist_is_refused_in_one_line(topology: str, message: str) -> None:
    with pytest.raises(arm.UserError, match=message) as error:
        arm.simulate(matmul, *shapes((8, 8), (8, 8)), topology=topology)
    assert "\n" not in str(error.value)


def test_a_program_larger_than_hbm_prints_its_memory() -> None:
    large = shapes((1 << 17, 1 << 16), (1 << 16, 1 << 10))
    with pytest.raises(arm.ResourceError, match=r"needs 3\d\.\d+ GiB of HBM") as error:
        arm.simulate(matmul, *large, topology="v5e:1x1")
    assert "argument" in str(error.value)
    result = arm.simulate(matmul, *large, topology="v5e:1x1", allow_oom=True)
    assert result.hbm_peak_bytes > 16e9
    assert result.hbm["largest"][0]["bytes"] == 1 << 35


def test_a_shape_that_overflows_is_refused_in_one_line() -> None:
    text = "HloModule m\nENTRY e { x = f32[4294967296,4294967296] parameter(0) ROOT y = f32[4294967296,4294967296] tanh(x) }"
    with pytest.raises(arm.Error) as error:
        arm.simulate(text, topology="v5e:1x1", allow_oom=True)
    assert error.value.kind == "user"


def test_the_report_says_what_people_ask() -> None:
    function, arguments = PROGRAMS["mlp_step"]
    text = arm.simulate(function, *arguments, topology="v6e:1x1").report()
    for word in [
        "step time",
        "MFU",
        "exposed communication",
        "roofline",
        "time by class",
        "mxu",
        "HBM of one device",
    ]:
        assert word in text
    assert "programs_test.py:" in text


def test_the_trace_is_what_perfetto_reads() -> None:
    function, arguments = PROGRAMS["lstm"]
    result = arm.simulate(function, *arguments, topology="v5e:1x1")
    trace = json.loads(json.dumps(result.trace()))
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert len(events) == len(result.timeline) > 0
    assert all(e["dur"] >= 0 and {"name", "cat", "ts", "pid", "tid"} <= e.keys() for e in events)
    check_rows(trace)


def check_rows(trace: dict[str, Any]) -> None:
    """Spans of one thread must not overlap, or viewers drop some; every thread has a name."""
    ends: dict[int, float] = {}
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    for e in sorted(events, key=lambda e: e["ts"]):
        assert e["ts"] >= ends.get(e["tid"], 0) - 1e-3
        ends[e["tid"]] = e["ts"] + e["dur"]
    named = {e["tid"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert set(ends) <= named
    assert trace["displayTimeUnit"] in ("ms", "ns")


def test_what_runs_at_once_is_on_rows_of_its_own() -> None:
    mesh = AbstractMesh((4, 4), ("x", "y"))

    def step(a: Any, b: Any, w: Any) -> Any:
        rows, columns = lax.all_gather(a, "x", tiled=True), lax.all_gather(b, "y", tiled=True)
        return rows.sum(0) + columns.sum(0) + (w @ w)[0, 0]

    specs = (P("x"), P("y"), P())
    f = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False))
    arguments = [
        jax.ShapeDtypeStruct(d, jnp.float32, sharding=NamedSharding(mesh, s))
        for d, s in zip(((1 << 12, 1024), (1 << 12, 1024), (4096, 4096)), specs, strict=True)
    ]
    result = arm.simulate(f, *arguments, topology="v5e:4x4")
    check_rows(result.trace())


def test_xprof_reads_the_profile(tmp_path: Path) -> None:
    function, arguments = PROGRAMS["attention"]
    result = arm.simulate(function, *arguments, topology="v5e:1x1")
    file = result.write_xprof(tmp_path)
    assert file == tmp_path / "plugins/profile/armillary/simulated.xplane.pb"
    protoc = shutil.which("protoc")
    if protoc is None:
        pytest.skip("there is no protoc")
    text = subprocess.run(
        [protoc, "--decode_raw"], stdin=file.open("rb"), capture_output=True, check=True
    ).stdout.decode()
    assert '2: "/device:TPU:0"' in text
    assert text.count("\n    4 {") >= len(result.timeline)
    # The lines and statistics without which XProf's tables stay empty; decoded, short names may look like messages.
    for name in ["Steps", "XLA Modules", "XLA Ops", "program_id", "symbol_id", "bytes_accessed", "TPU v5e"]:
        assert name.encode() in file.read_bytes()


def test_the_page_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    function, arguments = PROGRAMS["attention"]
    page = arm.simulate(function, *arguments, topology="v5e:1x1").html()
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("there is no Chromium to draw it")
    file = tmp_path / "page.html"
    file.write_text(page)
    quiet = [
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    own = f"--user-data-dir={tmp_path / 'browser'}"
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        *quiet,
        own,
        "--dump-dom",
        file.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, timeout=120, check=True).stdout.decode()
    assert "data-drawn=" in dom  # the script has reached its end
    assert 'class="bar"' in dom


def test_the_command_simulates_files_and_scripts(tmp_path: Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("HloModule m\nENTRY e { x = f32[512,512] parameter(0) ROOT y = f32[512,512] tanh(x) }")
    trace, page = tmp_path / "t.json", tmp_path / "p.html"
    done = CliRunner().invoke(
        app, ["simulate", str(file), "--topology", "v5e:1x1", "--trace", str(trace), "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    assert "step time" in done.output
    assert json.loads(trace.read_text())["traceEvents"]
    assert page.read_text().startswith("<!doctype html>")
    script = tmp_path / "s.py"
    script.write_text(
        "import jax, jax.numpy as jnp\nstep = jnp.sin\narguments = [jax.ShapeDtypeStruct((8, 8), 'float32')]\n"
    )
    assert CliRunner().invoke(app, ["simulate", str(script), "--topology", "v6e:1x1"]).exit_code == 0
    script.write_text("step = 1\n")
    refused = CliRunner().invoke(app, ["simulate", str(script), "--topology", "v6e:1x1"])
    assert isinstance(refused.exception, arm.UserError)
    assert "arguments" in str(refused.exception)


def test_a_chip_of_ones_own_is_simulated(tmp_path: Path) -> None:
    constants = arm.sim.chips()["v5e"].constants
    file = tmp_path / "mine.toml"
    lines = [f"{n} = {c.value * (2 if n == 'hbm_bytes_per_s' else 1)!r}" for n, c in constants.items()]
    file.write_text("\n".join(['name = "mine"', *lines]))
    copy = shapes((8192, 8192))
    mine = arm.simulate(jnp.tanh, *copy, topology="1x1", chip=arm.sim.load_chip(file))
    assert mine.seconds < 0.6 * arm.simulate(jnp.tanh, *copy, topology="v5e:1x1").seconds


def test_loops_of_unknown_length_are_said_to_be_assumed() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda x: jnp.sum(x) < 1e6, lambda x: x * 2, x)

    result = arm.simulate(f, *shapes((64, 128)), topology="v5e:1x1")
    assert any("number of its rounds" in note for note in result.notes)


def test_small_products_are_computed_in_the_array_itself() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=s).astype(np.float32) for s in ((3, 40, 72), (3, 72, 24)))
    f = lambda a, b: jnp.einsum("bij,bjk->bki", a, b)  # noqa: E731
    in_array = arm.simulate(f, a, b, topology="v5e:1x1", values="array")
    program = arm.simulate(f, a, b, topology="v5e:1x1", values="program")
    np.testing.assert_allclose(in_array.values, program.values, rtol=0, atol=1e-4)
    assert in_array.seconds == program.seconds


def test_a_program_for_several_devices_takes_and_gives_whole_arrays() -> None:
    text = """HloModule m, num_partitions=4
    ENTRY e { x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
      w = f32[4,8] parameter(1), sharding={devices=[1,4]<=[4]}
      ROOT d = f32[8,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0},
        operand_precision={highest,highest} }"""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(8, 4)).astype(np.float32), rng.normal(size=(4, 8)).astype(np.float32)
    result = arm.simulate(text, x, w, topology="v5e:2x2")
    np.testing.assert_allclose(result.values, x @ w, rtol=0, atol=1e-5)
    assert result.communication_seconds > 0
