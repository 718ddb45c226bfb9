"""Training steps written in JAX (llama.py), compiled for the simulated TPU, beside what public recipes measured; and what a
simulation costs.

usage: bazel run //tools/bench/tpu:jax_steps [-- --only TEXT] [-- --save layer_input]
"""

import argparse
import resource
import time
from dataclasses import dataclass

import armillary as arm
from armillary._simulate import compile_for, lower, make_pod, result_of
from rich.console import Console
from rich.table import Table

from tools.bench.tpu import llama


@dataclass(frozen=True)
class Step:
    name: str
    config: llama.Config
    topology: str
    devices: int
    batch: int  # of one device
    measured: float | None = None  # seconds: AI-Hypercomputer/tpu-recipes at c8cfe2f, training/trillium


STEPS = [
    Step("Llama-3.1-8B on v6e-8", llama.LLAMA_8B, "v6e:2x4", 8, 3, 3.443),
    Step("Llama-3.1-8B on v6e-64", llama.LLAMA_8B, "v6e:8x8", 64, 5, 5.652),
    Step("Llama-3.1-70B on v6e-32", llama.LLAMA_70B, "v6e:4x8", 32, 2, 17.790),
    Step("Mistral-7B on v6e-8", llama.MISTRAL_7B, "v6e:2x4", 8, 6, 6.320),
    Step("Llama-3.1-8B on v6e-256", llama.LLAMA_8B, "v6e:16x16", 256, 5),
]


def run(step: Step, save: tuple[str, ...]) -> tuple[arm.SimulationResult, float, float]:
    """The result, seconds that JAX took, seconds that we took."""
    start = time.perf_counter()
    function, arguments = llama.training_step(step.config, step.devices, step.batch, save=save)
    lowered = lower(function, arguments, {})
    traced = time.perf_counter()
    pod = make_pod(step.topology)
    core = compile_for(lowered.module, pod, "none", partitions=lowered.partitions)
    result = result_of(core, pod, step.topology, allow_oom=True)
    return result, traced - start, time.perf_counter() - traced


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="part of a name")
    parser.add_argument("--save", default=",".join(llama.SAVED), help="what is kept for the backward pass")
    parser.add_argument("--report", action="store_true", help="print each whole report")
    args = parser.parse_args()
    table = Table(title="Steps written in JAX; nothing is fitted on them", title_justify="left")
    for column in [
        "what",
        "measured",
        "simulated",
        "error",
        "MFU",
        "exposed",
        "HBM",
        "JAX",
        "simulation",
        "memory",
    ]:
        table.add_column(column, justify="left" if column == "what" else "right")
    for step in STEPS:
        if args.only not in step.name:
            continue
        r, tracing, seconds = run(step, tuple(args.save.split(",")))
        if args.report:
            print(r.report(30))
        table.add_row(
            step.name,
            f"{step.measured:.3f} s" if step.measured else "",
            f"{r.seconds:.3f} s",
            f"{100 * (r.seconds / step.measured - 1):+.1f} %" if step.measured else "",
            f"{r.mfu:.1%}",
            f"{r.exposed_communication_seconds:.3f} s",
            f"{r.hbm_peak_bytes / 1e9:.1f} of {r.hbm['capacity_bytes'] / 1e9:.0f} GB",
            f"{tracing:.1f} s",
            f"{seconds:.1f} s",
            f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB",
        )
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
