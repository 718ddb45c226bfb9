"""Armillary's cpu target against XLA:CPU, workload by workload, in one run.

usage: bazel run //tools/bench:cpu -- WORKLOADS.py [--only mlp_train,attention] [--rounds 5]

WORKLOADS.py defines W: name -> an object whose make() returns (function, arguments, anything). Rounds alternate between the
two, so that a slow spell of the machine meets both; the least of each counts. Printed: CPU seconds to compile, wall
milliseconds to run and their ratios (below 1: Armillary is faster), the largest difference relative to the largest
magnitude, and the peak of temporaries over the bytes that must be alive at once.
"""

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import armillary as arm
import jax
import numpy as np


def load_workloads(path: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.W


def cpu_seconds(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.process_time()
    result = work(*arguments)
    return time.process_time() - start, result


def wall_seconds(program: Callable[..., Any], arguments: Any) -> float:
    start = time.perf_counter()
    jax.block_until_ready(program(*arguments))
    return time.perf_counter() - start


def largest_difference(ours: Any, theirs: Any) -> float:
    worst = 0.0
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        if a.size and a.dtype.kind in "biu":
            worst = max(worst, float(np.mean(a != b)))
        elif a.size:
            x, y = (v.astype(np.complex128 if v.dtype.kind == "c" else np.float64) for v in (a, b))
            worst = max(worst, float(np.max(np.abs(x - y)) / max(np.max(np.abs(y)), 1e-30)))
    return worst


def measure(name: str, workload: Any, rounds: int) -> bool:
    function, arguments, *_ = workload.make()
    on_device = jax.device_put(arguments)
    compile_times: dict[str, list[float]] = {"xla": [], "ours": []}
    run_times: dict[str, list[float]] = {"xla": [], "ours": []}
    for _ in range(rounds):
        jax.clear_caches()
        lowered = jax.jit(lambda *a: function(*a)).lower(*arguments)  # anew: it keeps what was compiled
        seconds, theirs = cpu_seconds(lowered.compile)
        compile_times["xla"].append(seconds)
        seconds, ours = cpu_seconds(arm.compile, lowered)
        compile_times["ours"].append(seconds)
        ours(*arguments)
        run_times["xla"].append(wall_seconds(theirs, on_device))
        run_times["ours"].append(wall_seconds(ours, arguments))
    difference = largest_difference(ours(*arguments), theirs(*on_device))
    compiled, ran = (({k: min(v) for k, v in t.items()}) for t in (compile_times, run_times))
    memory = ours.memory()
    packed = memory["temporary_bytes"] / max(memory["max_live_bytes"], 1)
    print(
        f"{name:18s} {compiled['xla']:8.3f} {compiled['ours']:8.3f} {compiled['ours'] / compiled['xla']:6.2f} |"
        f" {ran['xla'] * 1e3:9.2f} {ran['ours'] * 1e3:9.2f} {ran['ours'] / ran['xla']:6.2f} |"
        f" {difference:8.1e} {packed:6.3f}",
        flush=True,
    )
    return difference <= 2e-3


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workloads", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    path = Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / options.workloads
    workloads = load_workloads(path)
    names = options.only.split(",") if options.only else list(workloads)
    if unknown := [name for name in names if name not in workloads]:
        parser.error(f"no workload is called {', '.join(unknown)}; there are {', '.join(workloads)}")
    print(
        f"{'workload':18s} {'compile s XLA':>8s} {'ours':>5s} {'ratio':>6s} | run ms XLA, ours, ratio | difference, packing"
    )
    wrong = []
    for name in names:
        try:
            right = measure(name, workloads[name], options.rounds)
        except arm.Error as error:
            print(f"{name:18s} {error}")
            right = False
        if not right:
            wrong.append(name)
    print("all agree" if not wrong else f"failing or differing: {', '.join(wrong)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
