"""The simulated TPU against what has been published about real ones, and how fast it simulates.

usage: bazel run //tools/bench/tpu [-- --only TEXT]

First table: measured, simulated, error, and whether constants were fitted on the row; a reproduced formula would prove
nothing, so none is listed. Second table: seconds to simulate, beside another simulator's where one has been timed.
"""

import argparse
import resource
import sys
import time
from collections.abc import Callable

from armillary import sim
from rich.console import Console
from rich.table import Table

from tools.bench.tpu import training
from tools.bench.tpu.measured import ROWS, Row


def shown(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:.1f} {unit}"
    scale, name = next((s, n) for s, n in ((1, "s"), (1e3, "ms"), (1e6, "us")) if value * s >= 1 or n == "us")
    return f"{value * scale:.4g} {name}"


def error(row: Row, simulated: float) -> str:
    if row.unit == "%":
        return f"{simulated - row.measured:+.1f} points"
    return f"{100 * (simulated / row.measured - 1):+.1f} %"


def validation(only: str) -> Table:
    table = Table(title="Measured and simulated", title_justify="left")
    for name in ("what", "measured", "simulated", "error", "fitted", "source"):
        table.add_column(name, justify="left" if name in ("what", "source") else "right")
    for row in ROWS:
        if only not in row.what:
            continue
        simulated = row.simulate()
        table.add_row(
            row.what,
            shown(row.measured, row.unit),
            shown(simulated, row.unit),
            error(row, simulated),
            "yes" if row.fitted else "no",
            row.source,
        )
    return table


def seconds_of(work: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def speed() -> Table:
    table = Table(title="Time to simulate", title_justify="left")
    for name in ("what", "seconds", "another simulator", "ratio"):
        table.add_column(name, justify="left" if name == "what" else "right")

    def add(what: str, seconds: float, other: str = "", other_seconds: float = 0) -> None:
        ratio = f"{other_seconds / seconds:,.0f}" if other_seconds else ""
        table.add_row(what, f"{seconds:.2g}", other, ratio)

    counting = seconds_of(lambda: sim.systolic_cycles(1024, 1024, 1024, mode="scalesim"), 100)
    add("1024^3 on 128 x 128, closed form", counting, "SCALE-Sim 3.0.0: 119.76", 119.76)
    grid = seconds_of(lambda: sim.systolic_cycles(256, 256, 256, 128, 128, mode="grid"), 3)
    add("256^3 on 128 x 128, every element in every cycle", grid, "SCALE-Sim 3.0.0: 1.19", 1.19)
    args = ("v5p:8x8x8", "all-reduce", 1 << 30)
    add("all-reduce on 512 chips, closed form", seconds_of(lambda: sim.collective_seconds(*args), 100))
    add(
        "the same, every message on every link",
        seconds_of(lambda: sim.collective_seconds(*args, events=True), 1),
    )
    program = training.step(training.LLAMA_405B, "v5p:8x8x8", 1)
    seconds = seconds_of(lambda: sim.simulate_program(program, "v5p:8x8x8"), 3)
    add(f"Llama-3.1-405B step on 512 chips, layers in loops ({len(program)} commands)", seconds)
    for what, unroll in (("layers in loops", 0), ("written out fifteen times", 15)):
        program = training.step(training.LLAMA_8B, "v6e:16x16", 3, unroll=unroll)
        seconds = seconds_of(lambda program=program: sim.simulate_program(program, "v6e:16x16"), 3)
        add(f"Llama-3.1-8B step on 256 chips, {what} ({len(program)} commands)", seconds)
    return table


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="rows whose name has this text")
    options = parser.parse_args()
    console = Console(width=150)
    console.print(validation(options.only))
    if not options.only:
        console.print(speed())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        console.print(f"peak memory of this process: {peak:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
