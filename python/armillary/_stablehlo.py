"""StableHLO in all its forms to a Module: portable artifacts by our own reader, others made into one by jaxlib first."""

import io
import re
from typing import Any

from armillary import _core
from armillary._core import UnsupportedError
from armillary._errors import unsupported_error, user_error

# What jaxlib is asked for; our reader knows it and its neighbours (xla_core/io/vhlo).
_VERSION = "1.17.0"

# "UNKNOWN: -:3:12: error: use of undeclared SSA value name"
_DIAGNOSTIC = re.compile(
    r"""(?:loc\()?"?(?P<file>[^\s:"]*)"?:(?P<line>\d+):(?P<column>\d+)\)?:\s*error:\s*(?P<message>[^\n]*)"""
)
_NO_HLO = re.compile(r"can't be translated to XLA HLO|quant\.uniform|failed to legalize")
_HINTS = {
    "conversion requires module with `main` function": "the module has no function `main` to start from",
}


def is_bytecode(data: bytes) -> bool:
    """MLIR bytecode, which portable artifacts are, too."""
    return data[:4] == b"ML\xefR"


def _is_artifact(data: bytes) -> bool:
    """Bytecode whose producer, after a byte with the version of the format, is StableHLO."""
    return is_bytecode(data) and data[5:16] == b"StableHLO_v"


def is_mlir_text(text: str) -> bool:
    """The first words are MLIR's, not HLO's."""
    start = re.sub(r"\s+|//[^\n]*\n?", " ", text[:4096]).lstrip()
    return (
        re.match(r'module\s*(@|\{|attributes)|func\.func|"?builtin\.module|[#!][\w.]+\s*=', start) is not None
    )


def to_module(program: str | bytes, file: str = "") -> _core.Module:
    """StableHLO text, bytecode or artifact (chlo and mhlo in it) as a Module.

    Raises UserError with the first complaint and its place, UnsupportedError where HLO has no words for an operation
    or type.
    """
    if isinstance(program, bytes) and _is_artifact(program):
        try:
            return _core.Module.from_stablehlo(program, file)
        except UnsupportedError as error:
            if "bytecode version" not in str(error):
                raise
            return _convert(program, file)
    artifact = _to_artifact(program)
    if artifact is None:
        return _convert(program, file)
    return _core.Module.from_stablehlo(artifact, file)


def operation_to_module(module: Any, file: str = "") -> _core.Module:
    """An MLIR module in Python's memory."""
    stream = io.BytesIO()
    module.operation.write_bytecode(stream)
    return to_module(stream.getvalue(), file)


def _to_artifact(program: str | bytes) -> bytes | None:
    from jaxlib import _jax

    serialize: Any = _jax.mlir.serialize_portable_artifact
    try:
        return serialize(program, _VERSION)
    except Exception:  # several types; the converter below says what is wrong
        return None


def _convert(program: str | bytes, file: str) -> _core.Module:
    return _core.Module.from_proto(to_hlo_proto(program, file), file)


def to_hlo_proto(program: str | bytes, file: str = "") -> bytes:
    """The bytes of an HloModuleProto, through jaxlib's converter to HLO."""
    from jaxlib import _jax

    converter: Any = _jax.mlir.mlir_module_to_xla_computation
    try:
        return converter(program).as_serialized_hlo_module_proto()
    except Exception as error:  # the converter raises several types; each is about the program it was given
        raise _explain(str(error), file or "stablehlo") from None


def result_memory_kinds(program: bytes) -> list[str]:
    """ "device", "pinned_host" or "unpinned_host" for each result of a portable artifact."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    def kind(attributes: Any) -> str:
        name = "mhlo.memory_kind"
        return ir.StringAttr(attributes[name]).value if name in attributes else "device"

    module = stablehlo.deserialize_portable_artifact(mlir.make_ir_context(), program)
    main = next(f for f in module.body if ir.StringAttr(f.attributes["sym_name"]).value == "main")
    if "res_attrs" not in main.attributes:
        return []
    return [kind(ir.DictAttr(attributes)) for attributes in ir.ArrayAttr(main.attributes["res_attrs"])]


def _explain(text: str, file: str) -> Exception:
    found = _DIAGNOSTIC.search(text)
    if found is None:
        first = text.strip().splitlines()[0] if text.strip() else "the converter gave no reason"
        return user_error(f"jaxlib refuses the program: {first}", file)
    message = found["message"].strip()
    message = _HINTS.get(message.removesuffix("."), message)
    where = f"{file}:{found['line']}:{found['column']}"
    return (unsupported_error if _NO_HLO.search(message) else user_error)(message, where)
