"""The simulated TPU: how long things take on a chip and between chips.

    arm.sim.systolic_cycles(1024, 1024, 1024)                   # cycles of one matrix unit
    arm.sim.chips()["v5e"].constants["hbm_bytes_per_s"]         # a figure and where it comes from
    arm.sim.collective_seconds("v5e:4x4", "all-reduce", 1 << 30)

What it models, what it does not and how wrong it may be is in docs/simulator.md.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armillary import _sim
from armillary._errors import user_error
from armillary._sim import Label as Label
from armillary._sim import MatrixWork as MatrixWork
from armillary._sim import Program as Program

Dataflow = Literal["ws", "os", "is"]
Mode = Literal["scalesim", "tpu", "grid"]
Precision = Literal["default", "high", "highest"]
Space = Literal["hbm", "vmem"]
CollectiveKind = Literal["all-gather", "reduce-scatter", "all-reduce", "all-to-all", "collective-permute"]

_LARGEST = (1 << 63) - 1  # the core counts in 64 bits


@dataclass(frozen=True)
class Constant:
    """A figure of a chip."""

    value: float
    unit: str
    source: (
        str  # begins with "assumed" where no public source says it, with "fitted" where a benchmark set it
    )
    doc: str
    prior: float | None = None  # of a fitted constant: what it was before


@dataclass(frozen=True)
class Chip:
    """A kind of TPU: its constants by name (`armillary chips v5e` lists them)."""

    name: str
    constants: dict[str, Constant]
    _row: _sim.Chip

    def replace(self, **values: float) -> "Chip":
        """The same chip with other values for some constants. Raises UserError on an unknown key, or a value that cannot be."""
        if unknown := [key for key in values if key not in self.constants]:
            raise user_error(f"{self.name} has no constant {', '.join(unknown)}")
        changed = [float(values.get(key, constant.value)) for key, constant in self.constants.items()]
        return _wrap(_sim.make_chip(self.name, changed, "given by hand"))


def _whole(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise user_error(f"{name} is {value!r}, but must be a whole number")
    if abs(int(value)) > _LARGEST:
        raise user_error(f"{name} is {value}, which does not fit 64 bits")
    return int(value)


def systolic_cycles(
    M: int,
    N: int,
    K: int,
    rows: int = 128,
    cols: int = 128,
    dataflow: Dataflow = "ws",
    mode: Mode = "scalesim",
) -> int:
    """Cycles that a rows x cols systolic array takes for C[M, N] = A[M, K] B[K, N].

    dataflow: what stays in the array: "ws" weights (B), "os" outputs (C), "is" inputs (A).

    mode: "scalesim" unless you say otherwise.
      "tpu": tiles follow each other without a gap; weights are double-buffered, so that a load, fill and drain show
        only where there is nothing to hide them behind.
      "grid": each tile is loaded, streamed and drained before the next. This runs the exact grid of processing
        elements, so it takes as long as that takes; products beyond its reach are a ResourceError.
      "scalesim": what SCALE-Sim 3.0.0 reports without memory stalls, for comparison with it. No hardware's truth.

    Raises UserError on an extent below 1, or one whose count does not fit 64 bits.
    """
    m, n, k = _whole("M", M), _whole("N", N), _whole("K", K)
    return _sim.systolic_cycles(m, n, k, _whole("rows", rows), _whole("cols", cols), dataflow, mode)


def systolic_matmul(
    a: np.ndarray,
    b: np.ndarray,
    rows: int = 128,
    cols: int = 128,
    dataflow: Dataflow = "ws",
    overlap: bool = True,
) -> tuple[np.ndarray, int]:
    """a @ b, computed in the simulated array element by element, and the cycles it took.

    a is [M, K], b is [K, N], both float32, bfloat16 or int8; the result is float32, or int32 for int8. Sums are made
    in the array's order; int32 sums wrap. overlap: as mode "tpu", else as mode "grid" of systolic_cycles.
    """
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.ndim != 2 or b.ndim != 2 or a.dtype != b.dtype:
        raise user_error(
            f"a is {a.dtype}{list(a.shape)} and b is {b.dtype}{list(b.shape)}, but both must be matrices of one type"
        )
    size = (_whole("rows", rows), _whole("cols", cols), dataflow, overlap)
    match a.dtype.name:
        case "float32":
            return _sim.multiply_f32(a, b, *size)
        case "bfloat16":
            return _sim.multiply_bf16(a.view(np.uint16), b.view(np.uint16), *size)
        case "int8":
            return _sim.multiply_s8(a, b, *size)
    raise user_error(f"the array multiplies float32, bfloat16 and int8, but not {a.dtype}")


def _wrap(row: _sim.Chip) -> Chip:
    columns = zip(_sim.list_chip_keys(), row.values, row.sources, row.priors, strict=True)
    constants = {
        key["name"]: Constant(value, key["unit"], source, key["doc"], prior)
        for key, value, source, prior in columns
    }
    return Chip(row.name, constants, row)


def chips() -> dict[str, Chip]:
    """The chips there are, v1 to v7x, by name."""
    return {name: _wrap(_sim.find_chip(name)) for name in _sim.chip_names()}


def chip_table(name: str | None, sources: bool) -> tuple[list[str], list[list[str]]]:
    """Head and rows of what `armillary chips` prints: all chips in short, or one with all its constants."""
    if name is not None:
        constants = _wrap(_sim.find_chip(name)).constants
        if not sources:
            return [name, "value", "unit", ""], [
                [key, f"{c.value:.10g}", c.unit, c.doc] for key, c in constants.items()
            ]
        return [name, "value", "prior", "unit", "source"], [
            [key, f"{c.value:.10g}", "" if c.prior is None else f"{c.prior:.10g}", c.unit, c.source]
            for key, c in constants.items()
        ]
    shown = ["peak_bf16_flops", "peak_int8_ops", "hbm_bytes", "hbm_bytes_per_s", "ici_bytes_per_s"]
    rows = []
    for chip in chips().values():
        figures = [chip.constants[key] for key in shown]
        cells = [(c.source if sources else f"{c.value:.4g} {c.unit}") if c.value else "" for c in figures]
        rows.append([chip.name, *cells])
    return ["chip", "bf16 peak", "int8 peak", "HBM", "HBM bandwidth", "link, one way"], rows


def load_chip(file: str | Path) -> Chip:
    """Reads a chip of your own: a TOML file with `name` and the keys that `armillary chips v5e` lists, all of them.

    Raises UserError with the names of unknown and missing keys, or of a value that cannot be.
    """
    path = Path(file)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise user_error(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise user_error(f"{path} is no TOML: {error}") from None
    keys = [key["name"] for key in _sim.list_chip_keys()]
    faults = [
        f"{what} {', '.join(names)}"
        for what, names in [
            ("unknown", [name for name in table if name not in ["name", *keys]]),
            ("missing", [name for name in ["name", *keys] if name not in table]),
        ]
        if names
    ]
    if faults:
        raise user_error(f"{path}: keys are wrong: {'; '.join(faults)}")
    for key in keys:
        if isinstance(table[key], bool) or not isinstance(table[key], int | float):
            raise user_error(f"{path}: {key} is {table[key]!r}, but must be a number")
    return _wrap(_sim.make_chip(str(table["name"]), [float(table[key]) for key in keys], str(path)))


def _place(topology: str, chip: Chip | None) -> tuple[_sim.Chip, str]:
    """The chip and the shape of "v5e:4x4", or of "4x4" if the chip is given."""
    if chip is not None:
        return chip._row, topology.rpartition(":")[2]
    name, colon, shape = topology.partition(":")
    if not colon:
        raise user_error(f"topology {topology!r} has no shape; write chip:shape, such as v5e:4x4")
    return _sim.find_chip(name), shape


def torus(topology: str, chip: Chip | None = None) -> list[tuple[int, bool]]:
    """Extent of each axis of a topology such as "v5e:4x4", and whether it wraps."""
    return list(zip(*_sim.torus(*_place(topology, chip)), strict=True))


def collective_seconds(
    topology: str,
    kind: CollectiveKind,
    bytes: int,
    axes: Sequence[int] | None = None,
    shift: int = 1,
    events: bool = False,
    chip: Chip | None = None,
    across_cores: bool = False,
) -> float:
    """Seconds that a collective takes on an otherwise idle torus, with its launch.

    bytes: of one device (on v2, v3 and v7x: one core of a chip): the array that an all-gather leaves on it, or that
      it starts with in the others. jax.lax.all_gather of f32[64,8,128] over 4 devices: 4 * 64 * 8 * 128 * 4.
    axes: of the torus; by default all (collective-permute: the first).
    shift: collective-permute: how far along that axis each chip sends.
    events: simulate every message on every link instead of the closed form. The result is the same; it takes longer.
    chip: one of your own (load_chip); then the topology may be a shape alone.
    across_cores: the devices of a chip are in one group; else each is in a group with its like on the other chips,
      and the groups share the links.
    """
    row, shape = _place(topology, chip)
    if axes is None:
        count = 1 if kind == "collective-permute" else len(_sim.torus(row, shape)[0])
        axes = range(count)
    chosen = [_axis(a) for a in axes]
    step = _whole("shift", shift)
    if abs(step) > 1 << 20:
        raise user_error(f"shift is {shift}, but at most {1 << 20} either way")
    return _sim.collective_seconds(
        row, shape, kind, _whole("bytes", bytes), chosen, step, across_cores, events
    )


def matmul_seconds(
    chip: str | Chip,
    m: int,
    n: int,
    k: int,
    dtype: str = "bf16",
    result: str | None = None,
    batch: int = 1,
    precision: Precision = "default",
) -> float:
    """Seconds that C[m, n] = A[m, k] B[k, n] takes on one device of a chip, operands and result in its memory.

    dtype: of A and B, as HLO writes it: "bf16", "f32", "s8", "f8e4m3fn". 32-bit operands are cut to bf16.
    result: of C; by default dtype, or "s32" for integers.
    batch: so many products, one after the other.
    precision: "default", or "high" and "highest": three and six bf16 passes.

    Raises UserError on extents below 1, a type that matrix units do not multiply, or a product beyond 64 bits.
    """
    passes = {"default": 1, "high": 3, "highest": 6}.get(precision)
    if passes is None:
        raise user_error(f"precision is {precision!r}, but must be default, high or highest")
    if result is None:
        result = "s32" if dtype[:1] in ("s", "u") else dtype
    whole = {name: _whole(name, value) for name, value in (("m", m), ("n", n), ("k", k), ("batch", batch))}
    return _sim.matmul_seconds(_row(chip), **whole, operand=dtype, result=result, passes=passes)


def copy_seconds(chip: str | Chip, bytes: int, source: Space = "hbm", target: Space = "hbm") -> float:
    """Seconds that one device of a chip takes to copy an array of so many bytes by DMA. Benchmarks of copies in HBM
    report 2 * bytes / seconds: each byte is read and written.
    """
    for name, space in (("source", source), ("target", target)):
        if space not in ("hbm", "vmem"):
            raise user_error(f"{name} is {space!r}, but must be hbm or vmem")
    return _sim.copy_seconds(_row(chip), _whole("bytes", bytes), source == "vmem", target == "vmem")


def simulate_program(program: Program, topology: str, chip: Chip | None = None) -> dict[str, Any]:
    """Runs a program of tile-level commands, written by hand, on a pod: what hides behind what, and how long it takes.

    Program, Label and MatrixWork are the simulator's own (tpu_sim/isa.h says what each command means). Returns seconds,
    flops, mfu, by_class, ops, utilization, exposed_communication_seconds and more, as tpu_sim/pod.h has them.
    """
    row, shape = _place(topology, chip)
    return _sim.simulate_program(program, row, shape)


def array_shares(
    batch: int, non_matrix: float, cycles_per_vector: int = 1, chip: str | Chip = "v1"
) -> dict[str, float]:
    """Shares of a weight-stationary array's cycles in fully connected layers whose weights come from memory.

    As table 3 of Jouppi et al. (ISCA 2017) counts for v1: active, weight shift and weight stall, given the share of
    non-matrix cycles. cycles_per_vector: 1 for 8 bits, 2 for 8 x 16, 4 for 16.
    """
    return _sim.array_shares(
        _row(chip), _whole("batch", batch), _whole("cycles_per_vector", cycles_per_vector), non_matrix
    )


@dataclass(frozen=True)
class RunProgram:
    """A program that JAX compiled under JAX_PLATFORMS=armillary_tpu, and how often it has run.

    `topology` is the part of the pod that its devices are, `seconds` what one run takes there.
    """

    name: str
    topology: str
    devices: int
    runs: int
    seconds: float
    _executable: Any
    _pod: Any

    @property
    def total_seconds(self) -> float:
        return self.runs * self.seconds

    def result(self) -> Any:
        """All that armillary.simulate() says about it. Raises UserError once JAX has dropped the program."""
        from armillary._simulate import result_of

        if self._executable is None:
            raise user_error(f"JAX has dropped {self.name}: keep the jitted function to look at its timeline")
        return result_of(self._executable, self._pod, self.topology)


def programs() -> list[RunProgram]:
    """What JAX has compiled for the simulated TPU of this process, in that order. What runs op by op is here as well."""
    from armillary import _core

    return [
        RunProgram(p["name"], p["topology"], p["devices"], p["runs"], p["seconds"], p["executable"], p["pod"])
        for p in _core.simulated_programs()
    ]


def total_seconds() -> float:
    """Of all runs of all programs, one after the other. What still runs is not counted: block_until_ready() first."""
    return sum(program.total_seconds for program in programs())


def restart() -> None:
    """Sets all counts of runs to nothing, as before a measurement."""
    from armillary import _core

    _core.restart_simulated_programs()


def report() -> str:
    """Programs that have run, the longest first: `atexit.register(lambda: print(arm.sim.report()))` says it at the end."""
    from armillary._simulate_report import duration

    ran = sorted((p for p in programs() if p.runs), key=lambda p: -p.total_seconds)
    total = sum(p.total_seconds for p in ran)
    return "\n".join(
        [
            f"simulated time of {sum(p.runs for p in ran)} runs of {len(ran)} programs: {duration(total)}",
            *(
                f"  {duration(p.total_seconds):>12}  {p.name} on {p.topology}: {p.runs} x {duration(p.seconds)}"
                for p in ran
            ),
        ]
    )


def _row(chip: str | Chip) -> _sim.Chip:
    return chip._row if isinstance(chip, Chip) else _sim.find_chip(chip)


def _axis(value: int) -> int:
    axis = _whole("axis", value)
    if not 0 <= axis < 3:
        raise user_error(f"axis is {axis}, but must be 0, 1 or 2")
    return axis
