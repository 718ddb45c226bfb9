"""What has been published about real TPUs: each row with its source, and whether constants were fitted on it.

recipes: github.com/AI-Hypercomputer/tpu-recipes, commit c8cfe2f6.
"""

from collections.abc import Callable
from dataclasses import dataclass

from armillary import sim

from tools.bench.tpu import training

RECIPES = "tpu-recipes microbenchmarks"


@dataclass(frozen=True)
class Row:
    what: str
    measured: float  # seconds, or percent of cycles
    simulate: Callable[[], float]
    source: str
    fitted: bool
    unit: str = "s"


def matmul(chip: str, n: int, flops_per_s: float) -> Row:
    return Row(
        f"{chip} matmul bf16 {n}^3",
        2 * n**3 / flops_per_s,
        lambda: sim.matmul_seconds(chip, n, n, n),
        RECIPES,
        True,
    )


def copy(chip: str, size: int, bytes_per_s: float) -> Row:
    return Row(
        f"{chip} HBM copy {size >> 20} MiB",
        2 * size / bytes_per_s,
        lambda: sim.copy_seconds(chip, size),
        RECIPES,
        True,
    )


def collective(
    topology: str, kind: sim.CollectiveKind, size: int, seconds: float, source: str, fitted: bool
) -> Row:
    name = f"{topology} {kind} {size / 2**20:g} MiB a device"
    return Row(name, seconds, lambda: sim.collective_seconds(topology, kind, size), source, fitted)


def step(name: str, model: training.Model, topology: str, batch: int, seconds: float) -> Row:
    def simulate() -> float:
        return float(sim.simulate_program(training.step(model, topology, batch), topology)["seconds"])

    return Row(
        f"{topology} {name} step, batch {batch} x 8192",
        seconds,
        simulate,
        "tpu-recipes training/trillium",
        False,
    )


def shares() -> list[Row]:
    """ISCA 2017, tables 1 and 3: batch, cycles for a vector, percent non-matrix, active, stalled, shifting."""
    table = {
        "MLP0": (200, 1, 17.5, 12.7, 53.9, 15.9),
        "LSTM0": (64, 2, 17.9, 8.2, 58.1, 15.8),
        "MLP1": (168, 1, 31.9, 10.6, 44.2, 13.4),
        "LSTM1": (96, 1, 10.3, 10.5, 62.1, 17.1),
    }
    rows = []
    for name, (batch, cycles, non_matrix, *measured) in table.items():
        for share, value in zip(("active", "stall", "shift"), measured, strict=True):

            def simulate(
                batch: int = batch, cycles: int = cycles, non_matrix: float = non_matrix, share: str = share
            ) -> float:
                return 100 * sim.array_shares(batch, non_matrix / 100, cycles)[share]

            rows.append(Row(f"v1 {name} {share}", value, simulate, "Jouppi 2017 table 3", False, "%"))
    return rows


ROWS = [
    matmul("v7x", 256, 18.286e12),
    matmul("v7x", 1024, 349.727e12),
    matmul("v7x", 4096, 892.945e12),
    matmul("v7x", 32768, 956.382e12),
    matmul("v6e", 8192, 827.5e12),
    copy("v7x", 4194304, 2249.7e9),
    copy("v7x", 33554432, 3009.8e9),
    copy("v7x", 8589934592, 3210.5e9),
    copy("v6e", 33554432, 1359.6e9),
    collective("v7x:2x2x1", "all-gather", 1 << 20, 21.9e-6, RECIPES, True),
    collective("v7x:2x2x1", "all-gather", 1 << 28, 2252.3e-6, RECIPES, True),
    collective("v7x:2x2x2", "all-reduce", 4 << 30, 53.8e-3, "yykzjh/tpu-microbenchmark", False),
    Row(
        "v5e:8x16 all-gather 1 GiB over 16",
        (1 << 30) * 15 / 16 / 2 / 42.75e9,
        lambda: sim.collective_seconds("v5e:8x16", "all-gather", 1 << 30, axes=[1]),
        "scaling-book sharding.md",
        True,
    ),
    *shares(),
    step("Llama-3.1-8B", training.LLAMA_8B, "v6e:2x4", 3, 3.443),
    step("Llama-3.1-8B", training.LLAMA_8B, "v6e:8x8", 5, 5.652),
    step("Llama-3.1-70B", training.LLAMA_70B, "v6e:4x8", 2, 17.790),
    step("Mistral-7B", training.MISTRAL_7B, "v6e:2x4", 6, 6.320),
]
