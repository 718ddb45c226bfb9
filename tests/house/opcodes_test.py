"""What an op means stands in its row of the op table: code that switches on opcodes is a short list of handlers."""

import tree

# Each case does something of its own there, which no trait and no function of a row could say.
HANDLERS = {
    "xla_core/backends/cpu/emit_program.cc",  # control flow becomes steps with blocks
    "xla_core/backends/tpu/lower.cc",  # control flow becomes loops and branches of commands
    "xla_core/buffers/values.cc",  # control flow and tuples share memory, each in its way
    "xla_core/kernels/elements.cc",  # how an element is computed in a loop, where the recipe is not the fastest
    "xla_core/passes/testing/sampler.cc",  # how random instructions are made for the tests of rules
}


def test_switches_on_opcodes_stand_in_handlers_only() -> None:
    switching = {
        str(name)
        for name in tree.with_suffix(".cc", ".h")
        if name.parts[0] == "xla_core" and "case Op::" in tree.read(name)
    }
    assert not switching - HANDLERS, "ask the row instead (xla_core/ops/op.h): give it what it lacks"
    assert not HANDLERS - switching, "no longer switch on opcodes; take them off the list"
