"""Runs pytest on the files of one test target and writes the report where Bazel looks for it."""

import os
import sys

import pytest

if __name__ == "__main__":
    options = ["-p", "no:cacheprovider", "-q", "--tb=short"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        options.append(f"--junitxml={report}")
    if only := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        options += ["-k", only]
    sys.exit(pytest.main(options + sys.argv[1:]))
