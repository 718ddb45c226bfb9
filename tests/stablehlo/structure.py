"""Two HLO modules compared up to names, ids, the order of computations and instructions that nobody uses."""

import hashlib
import math
import re
from typing import Any

INSTRUCTION = re.compile(r"^\s+(?P<root>ROOT )?%(?P<name>\S+) = (?P<rest>.*)$")
REFERENCE = re.compile(r'"(?:[^"\\]|\\.)*"|%([\w.\-]+)')
METADATA = re.compile(r", metadata=\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*)\}")
COMMUTATIVE = re.compile(
    r"\b(add|multiply|and|or|xor|maximum|minimum|compare(?=\S+ \S+, direction=(?:EQ|NE)))\((#\w+), (#\w+)\)()"
)
BROADCAST = re.compile(
    r"(?P<type>\w+)\[(?P<dims>[\d,]*)\] broadcast\(#(?P<operand>\w+)\), dimensions=\{(?P<map>[\d,]*)\}(?P<rest>.*)"
)
EFFECTS = (
    "custom_call_has_side_effect=true",
    " outfeed(",
    " infeed(",
    " send(",
    " recv(",
    " send-done(",
    " recv-done(",
)


def frames(text: str) -> dict[int, str]:
    """Stack frame ids to the whole stack in words."""
    tables: dict[str, dict[int, str]] = {}
    current = ""
    for line in text.splitlines():
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            tables[current := line] = {}
        elif current and (row := re.match(r"(\d+) (.*)", line)):
            tables[current][int(row[1])] = row[2]
        elif line.startswith(("%", "ENTRY")):
            break

    def location(number: str) -> str:
        row = tables["FileLocations"][int(number)]
        row = re.sub(r"file_name_id=(\d+)", lambda m: tables["FileNames"][int(m[1])], row)
        return re.sub(r"function_name_id=(\d+)", lambda m: tables["FunctionNames"][int(m[1])], row)

    stacks: dict[int, str] = {}

    def stack(number: int) -> str:
        if number not in stacks:
            row = tables["StackFrames"][number]
            parent = re.search(r"parent_frame_id=(\d+)", row)
            up = int(parent[1]) if parent else 0
            # The text counts parents from 1 and lets the outermost frame be its own.
            above = stack(up - 1) if 0 < up - 1 < number else ""
            stacks[number] = location(re.search(r"file_location_id=(\d+)", row)[1]) + "|" + above
        return stacks[number]

    for number in tables.get("StackFrames", {}):
        stack(number)
    return stacks


class Canonical:
    """A module as a digest of what its entry computes, and the pieces for a look at differences."""

    def __init__(self, module: Any, metadata: bool = True) -> None:
        text = module.to_text(layouts=False, metadata=metadata, percent=True)
        self.stacks = frames(text) if metadata else {}
        self.computations: dict[str, list[tuple[bool, str, str]]] = {}
        self.entry = ""
        self.header = re.sub(r"^HloModule [^,\n]*", "", text.splitlines()[0])
        current: list[tuple[bool, str, str]] = []
        for line in text.splitlines()[1:]:
            if found := INSTRUCTION.match(line):
                current.append((bool(found["root"]), found["name"], found["rest"]))
            elif line.startswith(("%", "ENTRY ")):
                name = line.removeprefix("ENTRY ").split(" ")[0].lstrip("%")
                if line.startswith("ENTRY"):
                    self.entry = name
                current = self.computations[name] = []
        self.digests: dict[str, str] = {}
        self.lines: dict[str, dict[str, str]] = {}

    def resolve(self, rest: str, local: dict[str, str]) -> str:
        def word(match: re.Match[str]) -> str:
            name = match[1]
            if name is None:
                return match[0]
            return "#" + (local[name] if name in local else self.digest(name))

        def note(match: re.Match[str]) -> str:
            inner = match[1]
            inner = re.sub(r"stack_frame_id=(\d+)", lambda m: "at " + self.stacks.get(int(m[1]), "?"), inner)
            return ", metadata={" + inner + "}"

        # A broadcast scalar may be a constant that was folded on the way, which forgets its place.
        rest = METADATA.sub("" if " broadcast(" in rest and "dimensions={}" in rest else note, rest)
        return COMMUTATIVE.sub(
            lambda m: f"{m[1]}({', '.join(sorted(m.group(2, 3)))}){m[4]}", REFERENCE.sub(word, rest)
        )

    def settle(self, line: str, shown: dict[str, str]) -> str:
        """One spelling where MLIR's folding finds another: broadcasts that only reshape, and counts in several
        dimensions."""
        found = BROADCAST.match(line)
        if not found or not (
            operand := re.match(r"(\w+)\[([\d,]*)\]( iota)?", shown.get(found["operand"], ""))
        ):
            return line
        dims, inner = ([int(d) for d in t.split(",") if d] for t in (found["dims"], operand[2]))
        if math.prod(dims) == math.prod(inner):
            return f"{found['type']}[{found['dims']}] reshape(#{found['operand']}){found['rest']}"
        if operand[3] and len(inner) == 1:
            return f"{found['type']}[{found['dims']}] iota(), iota_dimension={found['map']}{found['rest']}"
        return line

    def digest(self, name: str) -> str:
        if name not in self.digests:
            local: dict[str, str] = {}
            shown: dict[str, str] = {}
            kept: list[str] = []
            root = ""
            for is_root, instruction, rest in self.computations[name]:
                resolved = self.settle(self.resolve(rest, local), shown)
                local[instruction] = hashlib.sha1(resolved.encode()).hexdigest()[:12]
                shown[local[instruction]] = resolved
                if is_root:
                    root = local[instruction]
                if " parameter(" in resolved or any(e in resolved for e in EFFECTS):
                    kept.append(local[instruction])
            self.lines[name] = shown
            self.digests[name] = hashlib.sha1((root + ",".join(sorted(kept))).encode()).hexdigest()[:12]
        return self.digests[name]


def differences(ours: Any, theirs: Any, metadata: bool = True) -> list[str]:
    """Empty when the modules are the same; else some lines that only one of them has."""
    a, b = Canonical(ours, metadata), Canonical(theirs, metadata)
    out = []
    strip = re.compile(r", (?:num_partitions|replica_count)=\d+")
    if strip.sub("", a.header) != strip.sub("", b.header):
        out += ["ours   " + a.header, "theirs " + b.header]
    if a.digest(a.entry) == b.digest(b.entry):
        return out
    for mine, other, who in ((a, b, "ours   "), (b, a, "theirs ")):
        known = {line for shown in other.lines.values() for line in shown.values()}
        for name, shown in mine.lines.items():
            out += [f"{who} {name}: {line}" for line in shown.values() if line not in known][:6]
    return out[:40] or ["the roots differ"]
