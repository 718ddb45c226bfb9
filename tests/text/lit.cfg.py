# ruff: noqa: F821
"""How lit runs the .hlo files here: each says in RUN lines what to do with itself, FileCheck compares."""

import os

import lit.formats

config.name = "armillary"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".hlo"]
config.test_exec_root = os.environ["TEXT_TESTS_OUT"]
config.environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "HOME") if name in os.environ}
