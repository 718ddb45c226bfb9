"""What jax.profiler shows of our devices."""

import itertools
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.profiler import ProfileData, ProfileOptions
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.jax.plugin import our_devices

PLANE = "/device:CUSTOM:ARMILLARY:"
Lines = dict[str, list[Any]]


def trace(folder: Path, body: Callable[[], Any], **options: Any) -> ProfileData:
    """A folder holds one trace."""
    chosen = ProfileOptions()
    for name, value in options.items():
        setattr(chosen, name, value)
    with jax.profiler.trace(folder, profiler_options=chosen):
        body()
    (file,) = folder.glob("plugins/profile/*/*.xplane.pb")
    return ProfileData.from_file(str(file))


def devices_of(data: ProfileData) -> dict[int, Lines]:
    return {
        int(plane.name.removeprefix(PLANE)): {line.name: list(line.events) for line in plane.lines}
        for plane in data.planes
        if plane.name.startswith(PLANE)
    }


def stats(event: Any) -> dict[str, Any]:
    return dict(event.stats)


def steps_and_loops(x: jax.Array) -> jax.Array:
    y = jax.lax.fori_loop(0, 3, lambda _, c: jnp.cumsum(c, axis=1) * 0.5, jnp.sin(x @ x))
    return jnp.sort(y, axis=1).sum()


@pytest.fixture
def rows() -> jax.Array:
    mesh = Mesh(np.array(our_devices()[:2]), ("x",))
    return jax.device_put(jnp.ones((64, 64)), NamedSharding(mesh, P("x")))


def test_programs_and_their_steps_stand_on_both_devices(rows: jax.Array, tmp_path: Path) -> None:
    f = jax.jit(steps_and_loops)
    f(rows).block_until_ready()
    devices = devices_of(trace(tmp_path, lambda: [f(rows).block_until_ready() for _ in range(2)]))
    assert sorted(devices) == [0, 1]
    for lines in devices.values():
        modules, ops = lines["XLA Modules"], lines["XLA Ops"]
        assert [e.name.split("(")[0] for e in modules] == ["jit_steps_and_loops"] * 2
        first, second = (stats(e)["run_id"] for e in modules)
        assert first != second
        for op in ops:
            assert sum(m.start_ns <= op.start_ns and op.end_ns <= m.end_ns for m in modules) == 1
        (dot, _) = (e for e in ops if stats(e)["hlo_category"] == "dot")
        assert stats(dot)["flops"] == 2 * 32 * 64 * 64
        assert stats(dot)["bytes_accessed"] == 4 * (32 * 64 + 64 * 64 + 32 * 64)
        assert (
            stats(dot)["source"].startswith(__file__.rsplit("/", 1)[-1]) or __file__ in stats(dot)["source"]
        )
        assert "dot_general" in stats(dot)["tf_op"]
        assert stats(dot)["long_name"].startswith(f"%{dot.name} = f32[32,64]")


def test_the_steps_of_a_loop_lie_inside_it(rows: jax.Array, tmp_path: Path) -> None:
    f = jax.jit(steps_and_loops)
    f(rows).block_until_ready()
    for lines in devices_of(trace(tmp_path, lambda: f(rows).block_until_ready())).values():
        ops = lines["XLA Ops"]
        (loop,) = (e for e in ops if stats(e)["hlo_category"] == "while")
        trips = [e for e in ops if stats(e)["hlo_category"] == "reduce-window"]
        assert len(trips) == 3
        assert all(loop.start_ns <= e.start_ns and e.end_ns <= loop.end_ns for e in trips)
        assert [e.start_ns for e in ops] == sorted(e.start_ns for e in ops)


def test_our_clock_is_the_hosts(tmp_path: Path) -> None:
    our_devices()
    f = jax.jit(lambda x: x + 1)
    x = f(jnp.ones(8)).block_until_ready()

    def body() -> None:
        with jax.profiler.TraceAnnotation("around the call"):
            f(x).block_until_ready()

    data = trace(tmp_path, body)
    (host,) = (e for p in data.planes for line in p.lines for e in line.events if e.name == "around the call")
    (module,) = devices_of(data)[0]["XLA Modules"]
    assert host.start_ns <= module.start_ns
    assert module.end_ns <= host.end_ns


def test_compilations_and_transfers_are_shown(tmp_path: Path) -> None:
    device = our_devices()[1]

    def body() -> None:
        x = jax.device_put(np.ones((16, 16), np.float32), device)
        np.asarray(jax.device_put(jax.jit(lambda x: x * 2)(x), jax.devices()[2]))

    devices = devices_of(trace(tmp_path, body))
    assert [e.name for e in devices[1]["Compilations"]] == ["compile jit__lambda"]
    assert ("BufferFromHostBuffer", 1024) in [(e.name, stats(e)["bytes"]) for e in devices[1]["Transfers"]]
    assert "CopyToMemory" in [e.name for e in devices[2]["Transfers"]]


def test_a_trace_that_begins_and_ends_within_runs(tmp_path: Path) -> None:
    our_devices()
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 100_000, lambda _, c: jnp.cos(c), x))
    x = jnp.ones(64)
    slow(x).block_until_ready()
    before = slow(x)
    time.sleep(0.01)
    last: list[jax.Array] = []

    def body() -> None:
        before.block_until_ready()
        last.append(slow(x))
        time.sleep(0.01)

    (lines,) = devices_of(trace(tmp_path / "1", body)).values()
    (module,) = lines["XLA Modules"]  # of what ran before the trace began nothing is shown
    assert all(module.start_ns <= e.start_ns and e.end_ns <= module.end_ns for e in lines["XLA Ops"])
    np.testing.assert_array_equal(last[0], before)
    # What is left of that run is not in the next trace.
    (lines,) = devices_of(trace(tmp_path / "2", lambda: jnp.sin(x).block_until_ready())).values()
    assert [e.name.split("(")[0] for e in lines["XLA Modules"]] == ["jit_sin"]


def test_runs_of_several_threads_never_overlap_on_a_line(tmp_path: Path) -> None:
    our_devices()
    f = jax.jit(lambda x: jnp.sin(x) + 1)
    x = f(jnp.ones(512)).block_until_ready()

    def body() -> None:
        threads = [threading.Thread(target=lambda: [f(x) for _ in range(200)]) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        f(x).block_until_ready()

    (lines,) = devices_of(trace(tmp_path, body)).values()
    events = [e for name, line in lines.items() if name.startswith("XLA Modules") for e in line]
    assert len({stats(e)["run_id"] for e in events}) == len(events) == 801
    for line in lines.values():
        assert all(a.end_ns <= b.start_ns for a, b in itertools.pairwise(line))


def test_a_full_trace_says_that_it_is_full(tmp_path: Path) -> None:
    our_devices()
    f = jax.jit(lambda x: jax.lax.fori_loop(0, 1000, lambda _, c: jnp.cos(c), x))
    x = f(jnp.ones(8)).block_until_ready()
    body = lambda: [f(x).block_until_ready() for _ in range(3)]  # noqa: E731
    (lines,) = devices_of(
        trace(tmp_path, body, advanced_configuration={"armillary_max_events": 500})
    ).values()
    assert sum(map(len, lines.values())) == 501
    (note,) = lines["Dropped"]
    assert "500 events" in note.name


def test_devices_are_left_out_where_nobody_asks_for_them(tmp_path: Path) -> None:
    our_devices()
    none = {"armillary_max_events": 0}
    data = trace(tmp_path, lambda: jnp.sin(1.0).block_until_ready(), advanced_configuration=none)
    assert devices_of(data) == {}


def test_a_run_that_fails_ends_in_the_trace(tmp_path: Path) -> None:
    our_devices()

    def fails(_: Any) -> Any:
        raise ValueError("no")

    def body() -> None:
        with pytest.raises(jax.errors.JaxRuntimeError):
            jax.jit(lambda x: jax.pure_callback(fails, x, x))(jnp.float32(1)).block_until_ready()

    (lines,) = devices_of(trace(tmp_path, body)).values()
    assert lines["XLA Modules"][-1].duration_ns > 0
