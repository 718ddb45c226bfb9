"""Armillary: a small, readable XLA.

    import armillary as arm

    step = arm.jit(f)                          # a JAX function, compiled here
    program = arm.compile("model.hlo")         # HLO or StableHLO: text, bytes, a file, or what jax.jit(f).lower() returns
    module = arm.parse(text)                   # HLO to walk through: module.entry.instructions[0].operands
    module = arm.run_passes(module, "dce,cse") # a new module
    value = arm.evaluate(module, x, y)         # the interpreter: slow, obvious, right
    result = arm.simulate(f, x, topology="v5e:4x4")  # how long it would take on a simulated TPU pod
    cycles = arm.sim.systolic_cycles(M, N, K)  # the simulated TPU: how long things take

Results are NumPy arrays over the program's own memory; every JAX function takes them as they are. Errors are
armillary.Error and its subclasses UserError (also a ValueError), UnsupportedError (a NotImplementedError),
ResourceError (a MemoryError) and InternalError (a RuntimeError), each with `kind`, `where` and `message`.
"""

from typing import TYPE_CHECKING, Any

from armillary import _core
from armillary._core import (
    Computation,
    Error,
    Instruction,
    InternalError,
    Module,
    ResourceError,
    Shape,
    UnsupportedError,
    UserError,
    list_flags,
    list_ops,
    list_passes,
    list_targets,
    set_flags,
)
from armillary._executable import Executable, compile
from armillary._jit import JittedFunction, jit
from armillary._load import load
from armillary._modules import cost, evaluate, parse, run_passes
from armillary._simulate import Result as SimulationResult
from armillary._simulate import simulate

if TYPE_CHECKING:
    from armillary import sim

__version__ = "0.1.0"

__all__ = [
    "Computation",
    "Error",
    "Executable",
    "Instruction",
    "InternalError",
    "JittedFunction",
    "Module",
    "ResourceError",
    "Shape",
    "SimulationResult",
    "UnsupportedError",
    "UserError",
    "compile",
    "cost",
    "evaluate",
    "jit",
    "list_flags",
    "list_ops",
    "list_passes",
    "list_targets",
    "load",
    "parse",
    "run_passes",
    "set_flags",
    "sim",
    "simulate",
]

del _core


def __getattr__(name: str) -> Any:
    """`armillary.sim` is loaded by whoever asks for it: most programs are not simulated."""
    if name == "sim":
        import importlib

        return importlib.import_module("armillary.sim")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
