"""A pytest plugin that says what it is about to do, so that whoever watches knows which test a crash or a hang belongs to.

Reads from the environment: CONFORMANCE_LOG, a file to which it appends one JSON line when a test begins and one when it
ends; CONFORMANCE_EVERY, to run each k-th test only. Tests that the log already knows are left out, so that a run goes on
where the one before it died.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

_LOG = Path(os.environ["CONFORMANCE_LOG"])
_EVERY = int(os.environ.get("CONFORMANCE_EVERY", "1"))


def _write(**entry: object) -> None:
    with _LOG.open("a") as log:
        log.write(json.dumps(entry) + "\n")


def pytest_configure() -> None:
    import jax
    import jax._src.test_util  # defines the option

    jax.config.update("jax_test_dut", "cpu")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = {json.loads(line)["test"] for line in _LOG.read_text().splitlines()} if _LOG.exists() else set()
    items[:] = [item for item in items[::_EVERY] if item.nodeid not in known]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _write(test=item.nodeid, event="begin")
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    decided = report.when == "call" or report.outcome != "passed"
    if not decided:
        return
    last_line = str(report.longrepr).strip().splitlines()[-1:] if report.failed else []
    _write(test=report.nodeid, event=report.outcome, why="".join(last_line)[:400], seconds=report.duration)
