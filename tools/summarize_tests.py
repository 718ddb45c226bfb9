"""Counts the cases of one `bazel test` run from its console log and its test.xml files.

usage: summarize_tests.py LOG TESTLOGS EXIT_STATUS SECONDS
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from contextlib import suppress
from pathlib import Path

TARGET_LINE = re.compile(
    r"^//(\S*):(\S+)\s+(?:\(cached\) )?([A-Z][A-Z ]+[A-Z])(?: in .*?([\d.]+)s)?", re.MULTILINE
)


def count_cases(report: Path) -> Counter[str]:
    """Outcomes of the cases in one test.xml, which GoogleTest, pytest or Bazel itself wrote."""
    counts: Counter[str] = Counter()
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif (
            case.find("skipped") is not None
            or case.get("status") == "notrun"
            or case.get("result") == "skipped"
        ):
            counts["skipped"] += 1
        else:
            counts["passed"] += 1
    return counts


def count_target(folder: Path, outcome: str) -> Counter[str]:
    """Cases of one target; a target that failed without a failing case counts as one failure."""
    counts: Counter[str] = Counter()
    if outcome in ("PASSED", "FAILED", "FLAKY", "TIMEOUT"):
        for report in folder.rglob("test.xml"):
            with suppress(ElementTree.ParseError):  # cut off by a crash, which the outcome below reports
                counts += count_cases(report)
    if outcome in ("PASSED", "FLAKY"):
        counts["failed"] = 0
        counts["passed"] = counts["passed"] or int(not counts["skipped"])
    elif outcome == "SKIPPED":
        counts["skipped"] += 1
    else:
        counts["failed"] = counts["failed"] or 1
    return counts


def main(log: str, testlogs: str, status: str, seconds: str) -> None:
    targets = TARGET_LINE.findall(Path(log).read_text(errors="replace"))
    counts: Counter[str] = Counter()
    for package, name, outcome, _ in targets:
        counts += count_target(Path(testlogs, package, name), outcome)
    if status != "0" and not counts["failed"]:
        counts["failed"] = 1  # the build itself broke
    slowest = sorted(((float(t or 0), f"//{p}:{n}") for p, n, _, t in targets), reverse=True)[:5]
    outcomes = Counter(outcome for *_, outcome, _ in targets)
    summary = ", ".join(f"{number} {outcome.lower()}" for outcome, number in outcomes.items())
    print(f"\n{len(targets)} test targets ({summary}) in {seconds} s")
    if targets:
        print("slowest: " + ", ".join(f"{name} {time:.1f} s" for time, name in slowest))
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")


if __name__ == "__main__":
    main(*sys.argv[1:])
