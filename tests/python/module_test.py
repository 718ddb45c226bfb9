"""Modules to walk through, and the tables."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import armillary as arm
import numpy as np
import pytest

TEXT = """HloModule example

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (x: f32[4,2], y: s32[]) -> f32[4] {
  %x = f32[4,2]{1,0} parameter(0)
  %y = s32[] parameter(1)
  %unused = s32[] add(%y, %y)
  %zero = f32[] constant(0.5)
  ROOT %r = f32[4]{0} reduce(%x, %zero), dimensions={1}, to_apply=%add, metadata={op_name="jit(f)/reduce" source_file="f.py" source_line=7}
}
"""


def test_a_module_can_be_walked() -> None:
    module = arm.parse(TEXT)
    assert module.name == "example"
    assert [c.name for c in module.computations] == ["add", "main"]
    entry = module.entry
    assert entry.is_entry
    assert [str(s) for s in entry.parameter_shapes] == ["f32[4,2]{1,0}", "s32[]"]
    root = entry.root
    assert (root.name, root.op, root.is_root) == ("r", "reduce", True)
    assert [i.name for i in root.operands] == ["x", "zero"]
    assert root.operands[0].users == [root]
    assert root.attributes["dimensions"] == [1]
    assert root.attributes["to_apply"] == module.computations[0]
    assert root.callees[0].root.op == "add"
    assert root.metadata == {"op_name": "jit(f)/reduce", "source_file": "f.py", "source_line": 7}
    assert "f.py:7" in root.python_place
    assert root.operands[1].literal == np.float32(0.5)
    assert entry.parameters[1].parameter_number == 1
    assert len(entry) == len(list(entry)) == 5


def test_instructions_outlive_their_module_s_name() -> None:
    root = arm.parse(TEXT).entry.root
    assert root.operands[0].name == "x"


def test_shapes_tell_their_parts() -> None:
    shape = arm.Shape("(f32[2,<=3]{0,1}, (token[], bf16[]))")
    assert shape.is_tuple
    assert shape.elements[0].dims == (2, 3)
    assert shape.elements[0].dynamic_dims == (False, True)
    assert shape.elements[0].minor_to_major == (0, 1)
    assert [leaf.element_type for leaf in shape.leaves] == ["f32", "token", "bf16"]
    assert shape.leaves[2].dtype.name == "bfloat16"
    assert arm.Shape("f32[2]{0}") == arm.Shape("f32[2]{0}")
    assert arm.Shape("f32[2]{0}").compatible(arm.Shape("f32[2]"))
    assert len({arm.Shape("f32[2]{0}"), arm.Shape("f32[2]{0}")}) == 1


def test_passes_leave_the_module_they_are_given_alone() -> None:
    module = arm.parse(TEXT)
    smaller = arm.run_passes(module, "dce")
    assert module.instruction_count == 8
    assert smaller.instruction_count == 7
    assert "unused" not in smaller.to_text()


def test_a_wrong_pass_names_the_nearest() -> None:
    with pytest.raises(arm.UserError, match="dce"):
        arm.run_passes(TEXT, "dcee")


def test_errors_are_the_classes_python_programmers_expect() -> None:
    with pytest.raises(ValueError, match="add gives") as caught:
        arm.parse(TEXT.replace("s32[] add(%y, %y)", "s32[3] add(%y, %y)"), file="m.hlo").verify()
    error = caught.value
    assert isinstance(error, arm.UserError)
    assert error.kind == "user"
    assert error.where.startswith("m.hlo:12:")
    assert error.message in str(error)
    assert issubclass(arm.UnsupportedError, NotImplementedError)
    assert issubclass(arm.ResourceError, MemoryError)
    assert issubclass(arm.InternalError, RuntimeError)


def test_the_interpreter_runs_modules() -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(arm.evaluate(TEXT, x, 3), x.sum(1) + 0.5)


def test_the_interpreter_refuses_arguments_that_do_not_fit() -> None:
    with pytest.raises(arm.UserError, match="2 arrays, not 1"):
        arm.evaluate(TEXT, np.zeros((4, 2), np.float32))
    with pytest.raises(arm.UserError, match=r"f32\[4,2\]"):
        arm.evaluate(TEXT, np.zeros((4, 3), np.float32), np.int32(1))


def test_the_tables_are_told() -> None:
    ops = {op["name"]: op for op in arm.list_ops()}
    assert len(ops) == 136
    assert ops["tanh"]["meaning"] == "scalar"
    assert ops["tanh"]["runs"]
    assert any(row["name"] == "dce" for row in arm.list_passes())
    assert any(row["name"] == "threads" for row in arm.list_flags())
    assert arm.list_targets()[0]["name"] == "cpu"


def test_a_wrong_flag_names_the_nearest() -> None:
    with pytest.raises(arm.UserError, match="threads"):
        arm.set_flags("thread=3")
    with pytest.raises(arm.UserError, match="vector_bits is `7`, but it must be 0, 128, 256 or 512"):
        arm.set_flags("vector_bits=7")


@pytest.mark.parametrize("text", ["", "  \n", "\x00\xff HloModule", "HloModule"])
def test_what_is_no_program_is_a_user_error(text: str) -> None:
    with pytest.raises(arm.UserError):
        arm.compile(text)


def test_elided_constants_are_filled_with_a_warning() -> None:
    text = "ENTRY e { c = f32[300] constant({...})\n ROOT r = f32[300] negate(c) }"
    with pytest.warns(UserWarning, match="elided"):
        compiled = arm.compile(text)
    with pytest.warns(UserWarning, match="elided"):
        np.testing.assert_array_equal(compiled(), arm.evaluate(text))
    assert "{...}" in arm.parse(text).to_text()


@pytest.mark.parametrize("kind", [arm.Module, arm.Computation, arm.Instruction])
def test_only_the_core_makes_handles(kind: Any) -> None:
    with pytest.raises(TypeError, match="cannot make an instance"):
        kind.__new__(kind)
    with pytest.raises(TypeError, match="cannot make an instance"):
        kind()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_modules_and_shapes_are_copied_and_pickled(copied: Callable[[Any], Any]) -> None:
    module = arm.parse(
        TEXT.replace("HloModule example", "HloModule example, num_partitions=4")
        + "unused { ROOT c = f32[900] constant({...}) }",
        file="m.hlo",
    )
    assert copied(module).to_text() == module.to_text()
    assert (copied(module).num_partitions, copied(module).file) == (4, "m.hlo")
    shape = arm.Shape("(f32[2,3]{0,1}, token[])")
    assert copied(shape) == shape


def test_masks_are_refused() -> None:
    with pytest.raises(arm.UserError, match="masked"):
        arm.evaluate(TEXT, np.ma.masked_array(np.zeros((4, 2), np.float32)), 3)


def test_parse_takes_text() -> None:
    with pytest.raises(arm.UserError, match="not bytes"):
        arm.parse(b"HloModule m")  # type: ignore[arg-type]
