"""Fits the constants of the chip rows anew, from microbenchmarks alone, and prints prior, fitted and what stands in the row.

usage: bazel run //tools/bench/tpu:fit

One or two constants at a time are moved on their grids as long as the squares of the rows' relative errors shrink. What a row
cannot tell apart stays as assumed: v6e has two rows and takes launch and step from v7x.
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from armillary import sim

Cost = Callable[[sim.Chip], float]


@dataclass(frozen=True)
class Fit:
    chip: str
    steps: dict[str, float]  # grid of each constant
    measured: dict[str, tuple[float, Cost]]  # seconds, and how to simulate them


def matmul(n: int, flops_per_s: float) -> tuple[float, Cost]:
    return 2 * n**3 / flops_per_s, lambda chip: sim.matmul_seconds(chip, n, n, n)


def copy(size: int, bytes_per_s: float) -> tuple[float, Cost]:
    return 2 * size / bytes_per_s, lambda chip: sim.copy_seconds(chip, size)


def all_gather(size: int, seconds: float) -> tuple[float, Cost]:
    return seconds, lambda chip: sim.collective_seconds("2x2x1", "all-gather", size, chip=chip)


FITS = [
    Fit(
        "v7x",
        {"hbm_efficiency": 0.005},
        {"copy 8 GiB": copy(8589934592, 3210.5e9)},
    ),
    Fit(
        "v7x",
        {"mxu_efficiency": 0.01, "op_launch_ns": 100, "tile_step_ns": 50},
        {
            "matmul 256^3": matmul(256, 18.286e12),
            "matmul 1024^3": matmul(1024, 349.727e12),
            "matmul 4096^3": matmul(4096, 892.945e12),
            "matmul 32768^3": matmul(32768, 956.382e12),
            "copy 4 MiB": copy(4194304, 2249.7e9),
            "copy 32 MiB": copy(33554432, 3009.8e9),
        },
    ),
    Fit(
        "v7x",
        {"ici_efficiency": 0.005, "launch_ns": 100},
        {
            "all-gather 1 MiB": all_gather(1 << 20, 21.9e-6),
            "all-gather 256 MiB": all_gather(1 << 28, 2252.3e-6),
        },
    ),
    Fit(
        "v6e",
        {"hbm_efficiency": 0.001, "mxu_efficiency": 0.001},
        {"matmul 8192^3": matmul(8192, 827.5e12), "copy 32 MiB": copy(33554432, 1359.6e9)},
    ),
]


def errors(fit: Fit, chip: sim.Chip) -> list[float]:
    return [simulate(chip) / seconds - 1 for seconds, simulate in fit.measured.values()]


def cost(fit: Fit, chip: sim.Chip) -> float:
    return sum(math.log1p(error) ** 2 for error in errors(fit, chip))


def neighbours(fit: Fit, chip: sim.Chip) -> Iterator[sim.Chip]:
    """One or two constants moved on their grids."""
    moves = [
        (key, round(chip.constants[key].value / step) * step + move * step)
        for key, step in fit.steps.items()
        for move in (8, -8, 2, -2, 1, -1)
    ]
    possible = [(k, v) for k, v in moves if v > 0 and not (k.endswith("efficiency") and v > 1)]
    for first, second in itertools.combinations_with_replacement(possible, 2):
        yield chip.replace(**dict([first, second]))


def descend(fit: Fit, chip: sim.Chip) -> sim.Chip:
    while True:
        best = min(neighbours(fit, chip), key=lambda other: cost(fit, other))
        if cost(fit, best) >= cost(fit, chip) * (1 - 1e-9):
            return chip
        chip = best


def main() -> int:
    done: dict[str, sim.Chip] = {}
    for fit in FITS:
        row = sim.chips()[fit.chip]
        prior = {key: row.constants[key].prior for key in fit.steps}
        start = done.get(fit.chip, row).replace(**{k: v for k, v in prior.items() if v is not None})
        done[fit.chip] = fitted = descend(fit, start)
        print(f"{fit.chip}: {', '.join(fit.measured)}")
        for key in fit.steps:
            print(
                f"  {key:16s} prior {prior[key]:8.4g}  fitted {fitted.constants[key].value:8.4g}  row {row.constants[key].value:8.4g}"
            )
        for name, now, then in zip(fit.measured, errors(fit, row), errors(fit, fitted), strict=True):
            print(f"  {name:16s} error as fitted {100 * then:+6.1f} %  with the row {100 * now:+6.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
