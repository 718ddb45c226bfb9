"""The last line of the continuous build counts what really happened."""

from pathlib import Path

import pytest

from tools import summarize_tests

LOG = """\
Target //a:ok up-to-date:
//a:ok                                                          (cached) PASSED in 0.1s
//a:bad                                                                  FAILED in 1.5s
  /somewhere/test.log
//b:late                                                                TIMEOUT in 300.1s
//b:broken                                                      FAILED TO BUILD
//b:never                                                             NO STATUS
"""
MIXED = "<testsuite><testcase/><testcase><failure/></testcase><testcase><skipped/></testcase></testsuite>"
GOOGLETEST = (
    '<testsuites><testsuite><testcase status="run" result="completed"/>'
    '<testcase status="notrun" result="suppressed"/></testsuite></testsuites>'
)


def summarize(tmp_path: Path, capsys: pytest.CaptureFixture[str], log: str, status: str) -> str:
    (tmp_path / "log").write_text(log)
    for target, report in (("a/ok", GOOGLETEST), ("a/bad", MIXED), ("b/late", "<cut")):
        (tmp_path / target).mkdir(parents=True)
        (tmp_path / target / "test.xml").write_text(report)
    summarize_tests.main(str(tmp_path / "log"), str(tmp_path), status, "12")
    return capsys.readouterr().out.splitlines()[-1]


def test_cases_are_counted_and_a_target_without_cases_counts_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert summarize(tmp_path, capsys, LOG, "3") == "2 passed, 4 failed, 2 skipped"


def test_a_build_that_breaks_before_any_test_counts_as_a_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert summarize(tmp_path, capsys, "ERROR: no such package\n", "1") == "0 passed, 1 failed, 0 skipped"
