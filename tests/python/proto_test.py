"""Modules to bytes and back: XLA reads what we write, we read what XLA writes, and text says the same."""

import difflib
import re

import armillary as arm
import pytest
from jaxlib import _jax

from tests.python import programs


def check_round_trip(proto: bytes) -> arm.Module:
    """XLA must find the same module in our bytes, and our two readers the same module in XLA's two forms."""
    text = programs.xla_text(proto)
    module = arm.Module.from_proto(proto)
    ours = module.to_proto()
    assert programs.xla_text(ours) == text
    assert arm.Module.from_proto(ours).to_text() == module.to_text()
    parsed = arm.parse(text).to_text()
    assert parsed == module.to_text(), "\n".join(
        difflib.unified_diff(module.to_text().splitlines(), parsed.splitlines(), "proto", "text", n=0)
    )
    return module


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_jax_programs_round_trip(name: str) -> None:
    proto = programs.lower(name).compiler_ir("hlo").as_serialized_hlo_module_proto()
    check_round_trip(proto).verify()


def instructions_of(proto: bytes) -> list[str]:
    """XLA prints what is not scheduled, and numbers stack frames, by its passes' history, which a module does not record."""
    lines = programs.xla_text(proto).splitlines()
    return sorted(re.sub(r" ?stack_frame_id=\d+", "", line) for line in lines if " = " in line)


@pytest.mark.parametrize("name", ["scan", "convolution", "mlp_gradient"])
def test_optimised_and_scheduled_programs_round_trip(name: str) -> None:
    compiled = programs.lower(name).compile()
    proto = compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    module = arm.Module.from_proto(proto)
    assert module.is_scheduled
    assert instructions_of(module.to_proto()) == instructions_of(proto)


def test_every_attribute_round_trips() -> None:
    check_round_trip(programs.xla_proto(programs.ATTRIBUTES))


def test_collectives_and_asynchronous_pairs_round_trip() -> None:
    proto = programs.xla_proto(programs.COLLECTIVES)
    module = arm.Module.from_proto(proto)
    assert programs.xla_text(module.to_proto()) == programs.xla_text(proto)
    assert arm.Module.from_proto(module.to_proto()).to_text() == module.to_text()


@pytest.mark.parametrize("sharding", programs.SHARDINGS)
def test_shardings_are_written_as_xla_writes_them(sharding: str) -> None:
    module = check_round_trip(
        programs.xla_proto(programs.single(f"f32[4,4] parameter(0), sharding={sharding}"))
    )
    assert module.entry.root.attributes["sharding"] == sharding


@pytest.mark.parametrize("literal", programs.LITERALS)
def test_literals_of_every_type_and_layout_round_trip(literal: str) -> None:
    check_round_trip(programs.xla_proto(programs.single(literal)))


@pytest.mark.parametrize(
    "shape",
    ["f32[4,4]{0,1:T(8,128)(2,1)S(1)}", "s4[8]{0:E(4)}", "f32[<=8,2]{1,0}", "f32[2]{0:L(4)SC(0:1)M(16)}"],
)
def test_layouts_round_trip(shape: str) -> None:
    check_round_trip(programs.xla_proto(programs.single(f"{shape} parameter(0)")))


def test_aliases_and_donors_round_trip() -> None:
    text = """HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {1}, must-alias) }, buffer_donor={ (2, {}) }

ENTRY e {
  a = f32[2] parameter(0)
  b = (f32[], f32[2]) parameter(1)
  c = f32[2] parameter(2)
  d = f32[2] get-tuple-element(b), index=1
  ROOT t = (f32[2], f32[2], f32[2]) tuple(a, d, c)
}
"""
    module = check_round_trip(programs.xla_proto(text))
    assert module.donated_parameters == [(0, []), (1, [1]), (2, [])]


def test_equal_modules_give_equal_bytes() -> None:
    module = arm.parse(programs.ATTRIBUTES)
    assert module.to_proto() == module.clone().to_proto()


def test_a_dump_around_a_module_is_read() -> None:
    proto = arm.parse(programs.single("f32[2] parameter(0)")).to_proto()
    dump = b"\x0a" + bytes([len(proto) & 127 | 128, len(proto) >> 7]) + proto
    assert arm.load(dump).name == "one"


def test_an_elided_constant_cannot_be_written() -> None:
    with pytest.raises(arm.UserError, match="elided"):
        arm.parse(programs.single("f32[4] constant({...})")).to_proto()


def test_our_schema_knows_every_field_of_a_jax_program() -> None:
    """Nothing of a program gets lost: writing it again takes as many bytes, but for defaults XLA spells out."""
    computation = programs.lower("special").compiler_ir("hlo")
    assert isinstance(computation, _jax.XlaComputation if hasattr(_jax, "XlaComputation") else object)
    proto = computation.as_serialized_hlo_module_proto()
    again = programs.xla_text(arm.Module.from_proto(proto).to_proto())
    assert "metadata=" in again
    assert "StackFrames" in again
