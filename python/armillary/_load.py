"""Whatever holds a program -> Module. The kind is found by looking, never by asking."""

import os
import warnings
from typing import Any

from armillary import _core, _stablehlo
from armillary._errors import user_error

_LONGEST_PATH = 4096
_TEXT_CONTROLS = frozenset(b"\t\n\r\f")


def load(program: Any, file: str = "") -> _core.Module:
    """An HLO module from HLO text, StableHLO text, bytes of either (HloModuleProto, MLIR bytecode), the path of a file
    with one of those, a jax.stages.Lowered or Traced, a jax.export.Exported, an MLIR module, or a Module itself.

    `file` is named in messages. Raises UserError when it is none of these or malformed.
    """
    if isinstance(program, _core.Module):
        return program
    if isinstance(program, os.PathLike):
        return _load_file(os.fspath(program))
    if isinstance(program, str):
        return _load_text(program, file)
    if isinstance(program, bytes | bytearray | memoryview):
        return _load_bytes(bytes(program), file)
    return _load_object(program, file)


def load_to_run(program: Any) -> _core.Module:
    """As load(), but constants that a dump left out as `{...}` get small repeating values, with a warning."""
    module = load(program)
    filled = module.clone()
    count = filled.fill_elided_constants()
    if not count:
        return module
    warnings.warn(
        f"{module.name}: {count} constants elided as {{...}} were filled with made-up values", stacklevel=3
    )
    return filled


def _load_file(path: str) -> _core.Module:
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise user_error(error.strerror or str(error), path) from None
    if not data.strip():
        raise user_error("the file is empty", path)
    return _load_bytes(data, path)


def _load_text(text: str, file: str) -> _core.Module:
    if not text.strip():
        raise user_error("the program is empty", file)
    if "\n" not in text and len(text) < _LONGEST_PATH and _looks_like_path(text):
        return _load_file(text)
    if _stablehlo.is_mlir_text(text):
        return _stablehlo.to_module(text, file)
    return _core.Module.parse(text, file)


def _looks_like_path(text: str) -> bool:
    """No program is a single line without brackets; a name with brackets is a path when there is such a file."""
    if "\0" in text:
        return False
    return not any(c in text for c in "({") or os.path.exists(text)


def _load_bytes(data: bytes, file: str) -> _core.Module:
    if _stablehlo.is_bytecode(data):
        return _stablehlo.to_module(data, file)
    if _is_text(data):
        text = data.decode()
        if _stablehlo.is_mlir_text(text):
            return _stablehlo.to_module(text, file)
        return _core.Module.parse(text, file)
    return _core.Module.from_proto(data, file)


def _is_text(data: bytes) -> bool:
    """A serialized module has control characters from its second field on; text has none."""
    if any(byte < 32 and byte not in _TEXT_CONTROLS for byte in data[:4096]):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _load_object(program: Any, file: str) -> _core.Module:
    if hasattr(program, "as_serialized_hlo_module_proto"):  # an XlaComputation or an HloModule of jaxlib
        return _core.Module.from_proto(program.as_serialized_hlo_module_proto(), file)
    if hasattr(program, "compiler_ir"):  # jax.stages.Lowered
        return load(program.compiler_ir(dialect="stablehlo"), file)
    if hasattr(program, "mlir_module_serialized"):  # jax.export.Exported
        return _load_bytes(program.mlir_module_serialized, file)
    if hasattr(program, "lower") and hasattr(program, "jaxpr"):  # jax.stages.Traced
        return load(program.lower(), file)
    if hasattr(program, "operation"):  # an MLIR module
        return _stablehlo.operation_to_module(program, file)
    if callable(program):
        raise user_error("a function is compiled by armillary.jit, or after jax.jit(f).lower(*arguments)")
    raise user_error(
        f"a {type(program).__name__} is no program: pass HLO, StableHLO, a path or a jax Lowered"
    )
