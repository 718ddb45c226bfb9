"""What can be done with a module short of compiling it."""

import copyreg
from typing import Any

from armillary import _core
from armillary._arrays import arrays_for
from armillary._errors import user_error
from armillary._load import load, load_to_run


def parse(text: str, file: str = "") -> _core.Module:
    """HLO text to a Module; `file` is named in messages. Raises UserError with line, column and what was expected."""
    if not isinstance(text, str):
        raise user_error(
            f"parse takes HLO text, not {type(text).__name__}: load() takes bytes, files and more"
        )
    return _core.Module.parse(text, file)


def _pickled(module: _core.Module) -> tuple[Any, ...]:
    return parse, (module.to_text(), module.file)


# Instances of the core's classes are not made by __new__, as pickle would have it.
copyreg.pickle(_core.Module, _pickled)
copyreg.pickle(_core.Shape, lambda shape: (_core.Shape, (str(shape),)))


def run_passes(program: Any, passes: str, *, dump: str = "", verify_each: bool = True) -> _core.Module:
    """A new module after the passes: "dce,cse", "fixpoint(simplify,dce)". See list_passes().

    `program` is anything load() takes. `dump` is a folder for the text after each pass that changed something.
    """
    return _core.run_passes(load(program), passes, verify_each, dump)[0]


def evaluate(program: Any, *arguments: Any) -> Any:
    """Runs the program in the interpreter and returns an array, or nested tuples of them.

    `program` is anything load() takes; arguments are array-likes, nested tuples where a parameter is a tuple.
    """
    module = load_to_run(program)
    return _core.evaluate(module, arrays_for(module.entry.parameter_shapes, arguments, module.name))


def cost(program: Any) -> dict[str, float]:
    """flops, transcendentals and bytes_accessed of one run, before any optimisation. See Executable.cost()."""
    return _core.cost(load(program))
