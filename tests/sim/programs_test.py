"""Programs of tile-level commands on a pod, from Python; training steps that nothing is fitted on."""

import time

import armillary as arm
import pytest
from armillary import sim

from tools.bench.tpu import measured, training

STEPS = [row for row in measured.ROWS if "step" in row.what]


@pytest.mark.parametrize("row", STEPS, ids=lambda row: row.what)
def test_training_steps_are_within_a_quarter_of_what_was_measured(row: measured.Row) -> None:
    assert not row.fitted
    assert row.simulate() == pytest.approx(row.measured, rel=0.25)


def test_a_step_on_256_chips_of_many_commands_is_simulated_in_seconds() -> None:
    program = training.step(training.LLAMA_8B, "v6e:16x16", 3, unroll=15)
    assert len(program) > 20_000
    start = time.perf_counter()
    result = sim.simulate_program(program, "v6e:16x16")
    assert time.perf_counter() - start < 10
    assert sum(result["by_class"].values()) == pytest.approx(result["seconds"])


def test_layers_in_loops_take_as_long_as_written_out_but_for_the_loops_own_cost() -> None:
    looped, unrolled = (
        sim.simulate_program(training.step(training.LLAMA_8B, "v6e:8x8", 5, unroll=n), "v6e:8x8")
        for n in (0, 1)
    )
    assert looped["flops"] == unrolled["flops"]
    assert looped["seconds"] == pytest.approx(unrolled["seconds"], rel=1e-3)
    assert any("repeat them exactly" in note for note in looped["notes"])


def test_a_collective_hides_behind_a_product() -> None:
    program = sim.Program()
    program.start(sim.Label("gather", "collective", 0.0), 0, "all-gather", 1 << 20, [[0, 1], [2, 3]], [])
    product = sim.MatrixWork(8192, 8192, 8192, 1, "bf16", 1)
    program.matmul(sim.Label("dot", "matmul", 2.0 * 8192**3), sim.chips()["v5e"]._row, product, "bf16", {})
    program.wait(sim.Label("done", "collective", 0.0), 0)
    result = sim.simulate_program(program, "v5e:2x2")
    assert result["exposed_communication_seconds"] == 0
    assert result["communication_seconds"] > 0
    assert result["seconds"] == pytest.approx(sim.matmul_seconds("v5e", 8192, 8192, 8192))
    assert result["mfu"] == pytest.approx(2 * 8192**3 / result["seconds"] / 197e12)


def test_shares_of_the_first_tpu_come_near_its_counters() -> None:
    for row in measured.shares():
        points = 1.5 if "0" in row.what.split()[1] else 5
        assert row.simulate() == pytest.approx(row.measured, abs=points), row.what


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(arm.UserError, match="there is no class of operations 'dots'; there are matmul"):
        sim.Label("x", "dots", 0.0)
    program = sim.Program()
    with pytest.raises(arm.UserError, match="there is no vector operation 'add'"):
        program.fused_loop(sim.Label("x", "other", 0.0), 1, 1, 1, [], {"add": 1}, {})
    program.wait(sim.Label("done", "collective", 0.0), 7)
    with pytest.raises(arm.UserError, match="waits for handle 7, which nobody has started"):
        sim.simulate_program(program, "v5e:2x2")
    with pytest.raises(arm.UserError, match="share of non-matrix"):
        sim.array_shares(200, 1.5)
