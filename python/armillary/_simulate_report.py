"""Results of simulations as text and as traces."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from armillary._simulate import Result

TRACKS = ["core", "dma", "ici", "dcn", "host"]
_XPROF_TRACKS = {
    "core": "XLA Ops",
    "dma": "Copies",
    "ici": "ICI",
    "dcn": "DCN",
    "host": "Host",
}  # XProf looks for the first


def duration(seconds: float) -> str:
    for unit, scale in [("s", 1.0), ("ms", 1e-3), ("us", 1e-6)]:
        if seconds >= scale:
            return f"{seconds / scale:.3f} {unit}"
    return f"{seconds * 1e9:.1f} ns"


def rate(flops: float) -> str:
    return f"{flops / 1e12:.2f} TFLOP/s"


def report(result: "Result", ops: int) -> str:
    """Everything that people ask of a profile, in one text."""
    return "\n\n".join(
        "\n".join(lines)
        for lines in [
            _summary(result),
            _classes(result),
            _longest(result, ops),
            _units(result),
            _communication(result),
            _overlap(result),
            [result.hbm["text"]],
            [f"note: {note}" for note in result.notes],
        ]
        if lines
    )


def _summary(r: "Result") -> list[str]:
    exposed, total = r.exposed_communication_seconds, r.communication_seconds
    return [
        f"{r.name} on {r.topology} ({r.devices} device{'s' if r.devices != 1 else ''})",
        f"step time               {duration(r.seconds)}",
        f"MFU                     {r.mfu:.1%} = {r.mfu_formula}; dots and convolutions count:"
        f" {r.flops:.4g} / ({r.seconds:.4g} s x {rate(r.peak_flops)})",
        f"exposed communication   {duration(exposed)} of {duration(total)} that collectives take",
        f"exposed copies          {duration(r.exposed_copy_seconds)}",
        f"roofline                {r.roofline['flops_per_byte']:.1f} FLOPs a byte (ridge {r.roofline['ridge']:.1f}):"
        f" {rate(r.roofline['achieved'])} of {rate(r.roofline['attainable'])} attainable",
    ]


def _share(seconds: float, total: float) -> str:
    return f"{duration(seconds):>12} {seconds / total if total else 0:7.1%}"


def _classes(r: "Result") -> list[str]:
    rows = sorted(((s, name) for name, s in r.by_class.items() if s > 0), reverse=True)
    return ["time by class", *(f"  {_share(s, r.seconds)}  {name}" for s, name in rows)]


def _longest(r: "Result", count: int) -> list[str]:
    longest = sorted(r.ops, key=lambda op: -op.seconds)[:count]
    return [
        f"the {len(longest)} longest ops",
        *(
            f"  {_share(op.seconds, r.seconds)}  {op.name} x{op.runs} [{op.op_class}, bound by {op.bound or 'nothing'}]"
            f"{'  ' + op.source if op.source else ''}{'  ' + op.op_name if op.op_name else ''}"
            for op in longest
            if op.seconds > 0
        ),
    ]


def _units(r: "Result") -> list[str]:
    return ["busy share of the step", "  " + "  ".join(f"{u} {s:.1%}" for u, s in r.utilization.items())]


def _communication(r: "Result") -> list[str]:
    rows = sorted(r.communication_by_kind.items(), key=lambda row: -row[1].exposed_seconds)
    lines = [
        f"  {_share(c.exposed_seconds, r.seconds)}  {kind}, of {duration(c.seconds)}" for kind, c in rows
    ]
    return ["exposed communication by kind", *lines] if lines else []


def _overlap(r: "Result") -> list[str]:
    lines = [
        f"  {o.computation}: {o.collectives} collective{'s' if o.collectives != 1 else ''}, {duration(o.before)}"
        f" -> {duration(o.after)} (no order below {duration(o.lower_bound)}), memory"
        f" {o.peak_before / 2**30:.2f} -> {o.peak_after / 2**30:.2f} GiB"
        for o in r.overlap
    ]
    return ["collectives moved apart, as the scheduler estimates it", *lines] if lines else []


def rows(r: "Result") -> tuple[list[tuple[str, int]], list[int]]:
    """Rows on which no two spans overlap, as (track, which of its rows), and for each span the row that it is on.

    Copies, or collectives on different axes, may be under way at once; viewers want spans of a row one after the other.
    """
    free: dict[str, list[float]] = {track: [] for track in TRACKS}  # of each row, when its last span ends
    lanes = [0] * len(r.timeline)
    for n in sorted(range(len(r.timeline)), key=lambda n: r.timeline[n].start):
        span, ends = r.timeline[n], free[r.timeline[n].track]
        lanes[n] = next((lane for lane, end in enumerate(ends) if end <= span.start), len(ends))
        ends[lanes[n] : lanes[n] + 1] = [span.end]
    all_rows = [(track, lane) for track in TRACKS for lane in range(max(1, len(free[track])))]
    place = {row: n for n, row in enumerate(all_rows)}
    return all_rows, [place[span.track, lane] for span, lane in zip(r.timeline, lanes, strict=True)]


def row_name(track: str, lane: int) -> str:
    return track if lane == 0 else f"{track} {lane + 1}"


def trace(r: "Result") -> dict[str, Any]:
    """The format of Chrome's tracing, which Perfetto reads: complete events, microseconds, a thread per row."""
    all_rows, row_of = rows(r)
    named = [
        {"ph": "M", "pid": 0, "tid": n, "name": name, "args": args}
        for n, row in enumerate(all_rows)
        for name, args in [
            ("thread_name", {"name": row_name(*row)}),
            ("thread_sort_index", {"sort_index": n}),
        ]
    ]
    process = {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": f"{r.name} on {r.topology}"}}
    events = [
        {
            "ph": "X",
            "pid": 0,
            "tid": row,
            "name": r.ops[span.op].name,
            "cat": r.ops[span.op].op_class,
            "ts": span.start * 1e6,
            "dur": (span.end - span.start) * 1e6,
            "args": {
                "bound": span.bound,
                "op_name": r.ops[span.op].op_name,
                "source": r.ops[span.op].source,
                "flops": r.ops[span.op].flops,
                "bytes": r.ops[span.op].bytes,
            },
        }
        for span, row in zip(r.timeline, row_of, strict=True)
    ]
    return {
        "traceEvents": [process, *named, *events],
        "displayTimeUnit": "ns",
        "otherData": {"notes": r.notes},
    }


def write_xprof(r: "Result", folder: Path) -> Path:
    """XProf looks for plugins/profile/<run>/<host>.xplane.pb."""
    from armillary import _core

    run = folder / "plugins" / "profile" / "armillary"
    run.mkdir(parents=True, exist_ok=True)
    file = run / "simulated.xplane.pb"
    ops = [(op.name, op.op_class, op.op_name, op.source, op.flops, op.bytes) for op in r.ops]
    all_rows, row_of = rows(r)
    names = [row_name(_XPROF_TRACKS[track], lane) for track, lane in all_rows]
    spans = [(row, s.op, s.start, s.end) for s, row in zip(r.timeline, row_of, strict=True)]
    device = ("/device:TPU:0", f"TPU {r.chip}", r.peak_flops, r.peak_flops / r.roofline["ridge"])
    file.write_bytes(_core.to_xspace(device, r.name, r.seconds, names, ops, spans))
    return file
