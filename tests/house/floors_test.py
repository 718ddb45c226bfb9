"""Rooms include lower floors only, never their neighbours, and no include goes in a circle."""

import re
from pathlib import Path

from tests.house import tree

# Lowest floor first. A room is a folder under xla_core/.
FLOORS = [
    {"base"},
    {"shape"},
    {"ops"},
    {"hlo"},
    {"io", "analysis", "interp", "target", "program"},
    {"passes"},
    {"spmd", "layout", "fusion", "schedule", "buffers"},
    {"kernels"},
    {"backends/cpu", "backends/cuda", "backends/tpu", "runtime"},
    {"compile"},
    {"client"},
    {"pybind", "pjrt"},
]
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS, start=1) for room in rooms}

# The simulator stands beside the house: what it may take from the core, and who may take what from it.
TPU_SIM_TAKES = re.compile(r"xla_core/(base/.*|shape/dtype\.h)$")
TPU_SIM_GIVES = {
    "backends/tpu": {"tpu_sim/isa.h"},
    "client": {"tpu_sim/pod.h", "tpu_sim/systolic/cycles.h", "tpu_sim/systolic/grid.h"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"((?:xla_core|tpu_sim)/[^"]+)"', re.MULTILINE)


def includes_of(name: Path) -> list[str]:
    return INCLUDE.findall(tree.read(name))


def sources() -> list[Path]:
    """Our C++ files but for tests, which may look at any room."""
    ours = [name for name in tree.with_suffix(".cc", ".h") if name.parts[0] in ("xla_core", "tpu_sim")]
    return [name for name in ours if not name.stem.endswith("_test")]


def room_of(name: str | Path) -> str | None:
    """'xla_core/backends/cpu/x.h' is in room 'backends/cpu'; None outside xla_core."""
    parts = Path(name).parts[:-1]
    if not parts or parts[0] != "xla_core":
        return None
    return "/".join(parts[1:3] if parts[1:2] == ("backends",) else parts[1:2])


def fault(name: Path, included: str) -> str | None:
    """Why a file may not include another, or None if it may."""
    here, there = room_of(name), room_of(included)
    if here is None:  # in tpu_sim
        allowed = there is None or TPU_SIM_TAKES.match(included)
        return None if allowed else "tpu_sim takes only base/ and shape/dtype.h from the core"
    if there is None:
        allowed = here == "pybind" or included in TPU_SIM_GIVES.get(here, ())
        return None if allowed else f"{here} may not look into the simulator"
    if here == there:
        return None
    up, down = FLOOR_OF[here], FLOOR_OF.get(there)
    if down is None:
        return f"{there} is no room"
    return None if down < up else f"{here} is on floor {up}, {there} on floor {down}"


def test_every_source_file_is_in_a_room_with_a_floor() -> None:
    strays = [
        str(name) for name in sources() if room_of(name) not in FLOOR_OF and name.parts[0] == "xla_core"
    ]
    assert not strays, f"no floor is known for {strays}"


def test_includes_go_down_only() -> None:
    faults = [
        f'{name}: #include "{included}": {why}'
        for name in sources()
        if room_of(name) in FLOOR_OF or room_of(name) is None
        for included in includes_of(name)
        if (why := fault(name, included))
    ]
    assert not faults, "\n".join(faults)


def test_no_include_goes_in_a_circle() -> None:
    graph = {str(name): includes_of(name) for name in sources()}
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name in done:
            return
        for included in graph.get(name, ()):
            visit(included, [*trail, name])
        done.add(name)

    for name in graph:
        visit(name, [])


def test_the_rule_itself_catches_what_it_should() -> None:
    assert fault(Path("xla_core/hlo/module.h"), "xla_core/passes/pass.h")
    assert fault(Path("xla_core/spmd/spmd.cc"), "xla_core/layout/layout.h")
    assert fault(Path("xla_core/backends/cpu/emit.cc"), "xla_core/runtime/thunk.h")
    assert fault(Path("tpu_sim/pod.cc"), "xla_core/shape/shape.h")
    assert fault(Path("xla_core/passes/dce.cc"), "tpu_sim/pod.h")
    assert not fault(Path("xla_core/client/simulate.cc"), "tpu_sim/pod.h")
    assert not fault(Path("xla_core/passes/dce.cc"), "xla_core/hlo/module.h")
    assert not fault(Path("tpu_sim/pod.cc"), "xla_core/shape/dtype.h")


def test_every_room_says_what_comes_in_what_goes_out_and_what_it_may_not_know() -> None:
    rooms = sorted({room for name in sources() if (room := room_of(name)) in FLOOR_OF})
    silent = [room for room in rooms if not (tree.root() / "xla_core" / room / "README.md").is_file()]
    assert not silent, f"no README.md in {silent}"
