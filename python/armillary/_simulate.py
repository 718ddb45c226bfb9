"""armillary.simulate: how long a program would take on a TPU pod, and why.

    result = arm.simulate(step, params, batch, topology="v5e:4x4")
    print(result.report())

Arguments may be jax.ShapeDtypeStructs: then only time is computed, and no memory is touched for values.
What is assumed is in docs/simulator.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from armillary import _core
from armillary._errors import user_error
from armillary._executable import Executable, Trees, find_blas
from armillary._load import load_to_run

Values = Literal["program", "array", "none"]


@dataclass(frozen=True)
class Op:
    """All runs of one instruction. `seconds` is time on the core's row, waits included; the rest ran beside it."""

    name: str
    op_class: str
    seconds: float
    background_seconds: float
    runs: int
    flops: float
    bytes: float
    bound: str
    op_name: str
    source: str


@dataclass(frozen=True)
class Span:
    """Something that happened: on which row, of which op (an index into Result.ops), from when to when in seconds."""

    track: str
    op: int
    start: float
    end: float
    bound: str


@dataclass(frozen=True)
class Communication:
    """All collectives of one kind: how long they took, and how much of that the core waited for."""

    seconds: float
    exposed_seconds: float


@dataclass(frozen=True)
class Overlap:
    """What the scheduler did with the collectives of one computation, by its own estimate, loops inside counted in full.

    `before`: seconds when each collective is waited for where it stands; `after`: in the order that was chosen;
    `lower_bound`: of any order. Bytes are those alive at once.
    """

    computation: str
    collectives: int
    before: float
    after: float
    lower_bound: float
    peak_before: int
    peak_after: int


@dataclass(frozen=True, repr=False)
class Result:
    """What a simulation gives. Times are in seconds, of one device; every device takes as long."""

    name: str
    topology: str
    devices: int
    chip: str
    seconds: float
    mfu: float
    by_class: dict[str, float]
    ops: list[Op]
    exposed_communication_seconds: float
    exposed_copy_seconds: float
    communication_seconds: float
    communication_by_kind: dict[str, Communication]  # "all-gather", ...
    overlap: list[Overlap]  # of computations with collectives; empty when they were not to be overlapped
    hbm_peak_bytes: int
    hbm: dict[str, Any]
    utilization: dict[str, float]
    roofline: dict[str, float]
    flops: float
    peak_flops: float
    mfu_formula: str
    notes: list[str]
    timeline: list[Span]
    values: Any = None
    text: str = ""  # the scheduled HLO

    def __repr__(self) -> str:
        return (
            f"<simulation of {self.name} on {self.topology}: {self.seconds * 1e3:.4g} ms, MFU {self.mfu:.1%},"
            f" HBM {self.hbm_peak_bytes / 2**30:.3g} GiB>"
        )

    @property
    def by_op(self) -> dict[str, float]:
        """Seconds by instruction, longest first."""
        longest = sorted(self.ops, key=lambda op: -op.seconds)
        return {op.name: op.seconds for op in longest}

    def report(self, ops: int = 15) -> str:
        """The whole as text: step time, MFU, time by class and op, units, communication, memory, roofline."""
        from armillary._simulate_report import report

        return report(self, ops)

    def trace(self) -> dict[str, Any]:
        """The timeline as a trace that Perfetto and chrome://tracing open; json.dump() it."""
        from armillary._simulate_report import trace

        return trace(self)

    def write_xprof(self, folder: str | Path) -> Path:
        """Writes the timeline where XProf looks for it, below `folder`, and returns the file."""
        from armillary._simulate_report import write_xprof

        return write_xprof(self, Path(folder))

    def html(self) -> str:
        """One page with the timeline and the plots, which needs nothing else."""
        from armillary._simulate_html import page

        return page(self)


def simulate(
    program: Any,
    *arguments: Any,
    topology: str = "v5e:1x1",
    values: Values | None = None,
    chip: Any = None,
    overlap: bool = True,
    allow_oom: bool = False,
    progress: Callable[[float], None] | None = None,
    **keywords: Any,
) -> Result:
    """Simulates a program on a pod.

    program: a JAX function (plain or jitted, with static arguments if it has them), with its arguments: arrays, or
        jax.ShapeDtypeStructs (with shardings); or whatever armillary.compile() takes.
    topology: chip:shape, such as v5e:4x4, v5p:4x4x4, v7x:core, v6e:4x4+2 (two slices).
    values: "program": the results, from the program that the cpu target makes of the same module, with a TPU's rounding of
        f32 products (flag tpu_precision); "array": small products are computed in the simulated array itself; "none": only
        the time. By default "program" where all arguments are arrays, else "none". A program that calls Python
        (jax.pure_callback and its kin) has only a time.
    chip: one of your own, from armillary.sim.load_chip(); the topology may then be a shape alone.
    overlap: collectives run beside computation; False: each is waited for where it stands.
    allow_oom: go on with a program that does not fit HBM.

    Raises UserError for a topology that does not exist or does not fit the program, ResourceError with the memory report
    for a program that is larger than HBM.
    """
    pod = make_pod(topology, chip)
    lowered = lower(program, arguments, keywords)
    module = lowered.module
    concrete = all(map(_is_array, lowered.leaves))
    if values is None:
        takes = sum(leaf.is_array for shape in module.entry.parameter_shapes for leaf in shape.leaves)
        values = "program" if concrete and len(lowered.leaves) >= takes else "none"
    if check_values(values) != "none" and not concrete:
        raise user_error(f"values={values!r} needs arrays as arguments, not shapes")
    core = compile_for(module, pod, values, overlap, lowered.partitions)
    result = result_of(core, pod, topology, allow_oom, progress)
    if values == "none":
        return result
    executable = Executable(core, "tpu", lowered.trees)
    return _with_values(result, executable(*lowered.arguments, **lowered.keywords))


def check_values(values: str) -> Values:
    for known in get_args(Values):
        if values == known:
            return known
    raise user_error(f"values is {values!r}, but must be {', '.join(get_args(Values))}")


def make_pod(topology: str, chip: Any = None) -> _core.Pod:
    if not isinstance(topology, str):
        raise user_error(f"topology is {topology!r}, but must be text, such as 'v5e:4x4'")
    if chip is not None and not hasattr(chip, "constants"):
        raise user_error(
            f"chip is {chip!r}, but must come from armillary.sim.load_chip() or armillary.sim.chips();"
            " the name of a known chip goes into the topology"
        )
    if chip is None:
        return _core.Pod(topology)
    constants = [c.value for c in chip.constants.values()]
    return _core.Pod(topology, chip.name, constants, "the user's own chip")


def compile_for(
    module: _core.Module, pod: _core.Pod, values: Values, overlap: bool = True, partitions: int = 0
) -> _core.Executable:
    if values != "none":
        find_blas()
    return _core.compile_for(module, pod, values, overlap, partitions)


def result_of(
    core: _core.Executable,
    pod: _core.Pod,
    topology: str,
    allow_oom: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """The timeline of a program that was compiled for this pod."""
    t = _core.simulate(core, pod, allow_oom, progress)
    hbm = _core.hbm_report(core, pod)
    ops = [Op(**op) for op in t.pop("ops")]
    spans = [Span(*span) for span in t.pop("spans")]
    t.pop("hbm_bytes")
    kinds = {kind: Communication(*seconds) for kind, seconds in t.pop("by_kind").items()}
    return Result(
        name=core.module_name,
        topology=topology,
        devices=pod.devices,
        chip=pod.chip,
        ops=ops,
        communication_by_kind=kinds,
        overlap=[Overlap(**report) for report in _core.overlap_report(core)],
        timeline=spans,
        hbm=hbm,
        hbm_peak_bytes=hbm["peak_bytes"],
        text=core.as_text(),
        **t,
    )


def _with_values(result: Result, values: Any) -> Result:
    from dataclasses import replace

    return replace(result, values=values)


def _is_array(leaf: Any) -> bool:
    return not (hasattr(leaf, "shape") and hasattr(leaf, "dtype") and not hasattr(leaf, "__array__"))


@dataclass(frozen=True)
class Lowered:
    """A module, how a JAX function's arguments lie in it, those that are not static and their leaves, for how many
    devices it is (0: as the module says)."""

    module: _core.Module
    trees: Trees | None
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    leaves: list[Any]
    partitions: int = 0


def lower(program: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Lowered:
    from armillary._jit import JittedFunction

    if not isinstance(program, JittedFunction) and (not callable(program) or hasattr(program, "compiler_ir")):
        leaves = list(arguments)
        return Lowered(
            load_to_run(program), Trees.of(program), arguments, keywords, leaves, _partitions(program)
        )
    import jax

    if isinstance(program, JittedFunction):
        program = program._jitted
    elif not hasattr(program, "trace"):
        program = jax.jit(program, keep_unused=True)
    # By name of the platform, since shapes on an abstract mesh have no device to ask.
    lowered = program.trace(*arguments, **keywords).lower(lowering_platforms=("cpu",))
    dynamic = _dynamic(program, arguments, keywords)
    leaves = jax.tree_util.tree_leaves(dynamic)
    return Lowered(load_to_run(lowered), Trees.of(lowered), *dynamic, leaves, _partitions(lowered))


def _dynamic(
    jitted: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments that are not static: those the compiled program takes."""
    info = getattr(jitted, "_jit_info", None)
    if info is None:
        return arguments, keywords
    numbers = {n % len(arguments) if n < 0 else n for n in info.static_argnums if arguments}
    rest = tuple(argument for n, argument in enumerate(arguments) if n not in numbers)
    return rest, {name: value for name, value in keywords.items() if name not in info.static_argnames}


def _partitions(lowered: Any) -> int:
    """JAX writes it beside the StableHLO module, not into the HLO one."""
    if not hasattr(lowered, "compiler_ir"):
        return 0
    attributes = lowered.compiler_ir("stablehlo").operation.attributes
    return attributes["mhlo.num_partitions"].value if "mhlo.num_partitions" in attributes else 0
