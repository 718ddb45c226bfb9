"""JAX's own test suite on XLA:CPU and on Armillary, file by file.

usage: bazel run //tools/jax_conformance:run -- --suite JAX_CHECKOUT lax_test random_test ...
           [--cases 10] [--devices 8] [--every 1] [--on armillary,cpu] [--patience 300] [--json out.json]

JAX_CHECKOUT is the source tree of the installed JAX (tag jax-v0.10.2); its tests are not part of this repository. Each file
runs in a process of its own; one that dies or says nothing for `--patience` seconds costs the test it was at, and goes on
with the next one. Printed: a row for each file with the tests passed by both, by XLA only, by Armillary only, skipped,
crashed, hung, and the seconds each took; then every test that only XLA passes, with the last line of its failure: first the
new ones, then, with the reason, those of tests/jax/known_gaps.md. Exit status 1 says that there are new ones.
"""

import argparse
import fnmatch
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
KNOWN = HERE.parent.parent / "tests/jax/known_gaps.md"
OURS, PEER = "armillary", "cpu"


@dataclass
class Outcome:
    """What a test file did on one platform."""

    results: dict[str, tuple[str, str]] = field(default_factory=dict)  # test -> (outcome, why)
    seconds: float = 0.0

    def count(self, outcome: str) -> int:
        return sum(o == outcome for o, _ in self.results.values())

    def passed(self) -> set[str]:
        return {test for test, (outcome, _) in self.results.items() if outcome == "passed"}


def read_log(log: Path) -> tuple[dict[str, tuple[str, str]], str | None]:
    """Outcomes by test, and the test that began and did not end."""
    results: dict[str, tuple[str, str]] = {}
    open_test = None
    for line in log.read_text().splitlines() if log.exists() else []:
        entry = json.loads(line)
        if entry["event"] == "begin":
            open_test = entry["test"]
        else:
            results[entry["test"]] = (entry["event"], entry.get("why", ""))
            open_test = None if entry["test"] == open_test else open_test
    return results, open_test


def environment(platform: str, options: argparse.Namespace, log: Path) -> dict[str, str]:
    return os.environ | {
        "JAX_PLATFORMS": platform,
        "JAX_NUM_GENERATED_CASES": str(options.cases),
        "JAX_SKIP_SLOW_TESTS": "true",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={options.devices}",
        "CONFORMANCE_LOG": str(log),
        "CONFORMANCE_EVERY": str(options.every),
        "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path[1:]]),
    }


def watch(process: subprocess.Popen[bytes], log: Path, patience: float) -> bool:
    """Waits for the process; kills it and says True when its log has been silent for too long."""
    last, since = -1, time.monotonic()
    while process.poll() is None:
        size = log.stat().st_size if log.exists() else 0
        if size != last:
            last, since = size, time.monotonic()
        elif time.monotonic() - since > patience:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.2)
    return False


def run_file(name: str, platform: str, options: argparse.Namespace) -> Outcome:
    outcome = Outcome()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "worker", "-p"]
        command += ["no:cacheprovider", f"tests/{name}.py"]
        while True:
            output = Path(folder, "output.txt")
            with output.open("wb") as out:
                process = subprocess.Popen(
                    command,
                    cwd=options.suite,
                    env=environment(platform, options, log),
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                hung = watch(process, log, options.patience)
            outcome.results, open_test = read_log(log)
            if open_test is None:
                if not outcome.results and process.returncode not in (0, 5):
                    raise SystemExit(f"{name} does not run on {platform}:\n{output.read_text()[-3000:]}")
                break
            event = "hung" if hung else "crashed"
            with log.open("a") as out_log:
                why = f"exit status {process.returncode}"
                out_log.write(json.dumps({"test": open_test, "event": event, "why": why}) + "\n")
    outcome.seconds = time.monotonic() - start
    return outcome


def known_gaps(table: str) -> dict[str, list[tuple[str, str]]]:
    """By file, the patterns and reasons of the table's rows: | file | `test`, `test_{a,b}_*` | XLA | why |."""
    gaps: dict[str, list[tuple[str, str]]] = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 4:
            continue
        for text in re.findall("`([^`]+)`", cells[1]):
            for pattern in alternatives(text):
                gaps.setdefault(cells[0], []).append((pattern, cells[3]))
    return gaps


def alternatives(text: str) -> list[str]:
    """`a_{b,c}` is `a_b` and `a_c`."""
    found = re.search(r"\{([^{}]*)\}", text)
    if not found:
        return [text]
    before, after = text[: found.start()], text[found.end() :]
    return [full for part in found[1].split(",") for full in alternatives(before + part + after)]


def why_known(gaps: dict[str, list[tuple[str, str]]], file: str, test: str) -> str | None:
    """The reason that stands in the table. A pattern may leave out the class and what parameterization adds."""
    name = test.split("::", 1)[-1].replace("::", ".")
    for pattern, reason in gaps.get(file, []):
        if any(fnmatch.fnmatchcase(n, pattern) for n in (name, name.split(".", 1)[-1])):
            return reason
    return None


def report(console: Console, outcomes: dict[str, dict[str, Outcome]]) -> int:
    """Prints it. Returns how many tests fail that are not known to."""
    table = Table(title="JAX's tests", show_footer=False)
    for column in (
        "file",
        "both",
        "XLA only",
        "ours only",
        "of XLA's",
        "skipped",
        "crashed",
        "hung",
        "s",
        "XLA s",
    ):
        table.add_column(column, justify="left" if column == "file" else "right")
    for name, by_platform in outcomes.items():
        ours, peer = by_platform.get(OURS, Outcome()), by_platform.get(PEER, Outcome())
        both, only_peer = ours.passed() & peer.passed(), peer.passed() - ours.passed()
        share = f"{len(both) / len(peer.passed()):.2%}" if peer.passed() else "-"
        cells = [len(both), len(only_peer), len(ours.passed() - peer.passed()), share, ours.count("skipped")]
        cells += [ours.count("crashed"), ours.count("hung"), f"{ours.seconds:.0f}", f"{peer.seconds:.0f}"]
        table.add_row(name, *map(str, cells))
    console.print(table)
    gaps = known_gaps(KNOWN.read_text()) if KNOWN.exists() else {}
    new: list[str] = []
    known: list[str] = []
    for name, by_platform in outcomes.items():
        ours, peer = by_platform.get(OURS, Outcome()), by_platform.get(PEER)
        for test, (outcome, why) in ours.results.items():
            if outcome in ("passed", "skipped") or (peer and test not in peer.passed()):
                continue
            line = f"{name}: {test.split('::', 1)[-1]}: {outcome}: "
            reason = why_known(gaps, name, test)
            new.append(line + why) if reason is None else known.append(line + reason)
    for title, lines in (("new", new), ("known", known)):
        if lines:
            console.print(
                f"{title}:", *(f"  {line}" for line in lines), sep="\n", markup=False, soft_wrap=True
            )
    return len(new)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="names without .py")
    parser.add_argument("--suite", type=Path, required=True, help="JAX's source tree")
    parser.add_argument("--cases", type=int, default=10, help="JAX_NUM_GENERATED_CASES")
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--every", type=int, default=1, help="run each k-th test only")
    parser.add_argument("--on", default=f"{OURS},{PEER}", help="platforms, between commas")
    parser.add_argument("--patience", type=float, default=300, help="seconds a test may take")
    parser.add_argument("--json", type=Path, help="also write the outcomes here")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    outcomes: dict[str, dict[str, Outcome]] = {}
    for name in options.files:
        if not (options.suite / "tests" / f"{name}.py").is_file():
            raise SystemExit(f"there is no tests/{name}.py in {options.suite}")
        for platform in options.on.split(","):
            outcomes.setdefault(name, {})[platform] = run_file(name, platform, options)
    if options.json:
        plain = {n: {p: o.results for p, o in by.items()} for n, by in outcomes.items()}
        options.json.write_text(json.dumps(plain, indent=1))
    sys.exit(1 if report(console, outcomes) else 0)


if __name__ == "__main__":
    main()
