"""StableHLO in its three forms, with chlo and mhlo inside, and what is said when it is wrong."""

import armillary as arm
import jax
import numpy as np
import pytest
from jaxlib import _jax

from tests.python import programs

HEAD = "module @m {\n  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n    "
TAIL = "\n    return %0 : tensor<4xf32>\n  }\n}\n"


def module_of(operation: str) -> str:
    return HEAD + operation + TAIL


ADD = module_of("%0 = stablehlo.add %a, %a : tensor<4xf32>")


def forms() -> dict[str, object]:
    lowered = programs.lower("special")
    text = lowered.as_text()
    artifact = _jax.mlir.serialize_portable_artifact(text.encode(), "1.10.0")
    exported = jax.export.export(jax.jit(programs.PROGRAMS["special"][0]))(*programs.PROGRAMS["special"][1])
    return {
        "text": text,
        "text as bytes": text.encode(),
        "portable artifact": artifact,
        "lowered": lowered,
        "exported": exported,
        "mlir module": lowered.compiler_ir("stablehlo"),
        "computation": lowered.compiler_ir("hlo"),
        "traced": jax.jit(programs.PROGRAMS["special"][0]).trace(*programs.PROGRAMS["special"][1]),
    }


@pytest.mark.parametrize("form", list(forms()))
def test_each_form_computes_the_same(form: str) -> None:
    function, arguments = programs.PROGRAMS["special"]
    module = arm.load(forms()[form])
    module.verify()
    for ours, wanted in zip(arm.evaluate(module, *arguments), jax.jit(function)(*arguments), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=2e-5, atol=1e-6)


def test_a_file_is_found_out_by_looking(tmp_path) -> None:
    for name, content in {
        "a.txt": ADD.encode(),
        "b": arm.load(ADD).to_text().encode(),
        "c.mlir": arm.load(ADD).to_proto(),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert arm.load(tmp_path / name).name == "m"
        assert arm.load(str(tmp_path / name)).name == "m"


@pytest.mark.parametrize(
    "operation",
    [
        "%0 = chlo.erf_inv %a : tensor<4xf32> -> tensor<4xf32>",
        "%0 = chlo.lgamma %a : tensor<4xf32> -> tensor<4xf32>",
        "%0 = chlo.next_after %a, %a : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>",
        "%0 = mhlo.add %a, %a : tensor<4xf32>",
    ],
)
def test_chlo_and_mhlo_are_legalised(operation: str) -> None:
    arm.load(module_of(operation)).verify()


@pytest.mark.parametrize(
    ("operation", "kind", "message"),
    [
        (
            "%0 = stablehlo.add %a, %b : tensor<4xf32>",
            arm.UserError,
            r"model\.mlir:3:\d+: use of undeclared SSA",
        ),
        (
            "%0 = stablehlo.foo %a : tensor<4xf32>",
            arm.UserError,
            r"model\.mlir:3:\d+: .*stablehlo\.foo.* is unknown",
        ),
        (
            "%0 = stablehlo.uniform_dequantize %q : (tensor<4x!quant.uniform<i8:f32, 1.0>>) -> tensor<4xf32>",
            arm.Error,
            "model.mlir",
        ),
    ],
)
def test_wrong_programs_say_where(operation: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        arm.load(module_of(operation), file="model.mlir")


def test_a_module_without_main_is_told_so() -> None:
    with pytest.raises(arm.UserError, match="main"):
        arm.load(ADD.replace("@main", "@other"))


@pytest.mark.parametrize("program", ["no_such_file.hlo", b"ML\xefR\x0dbroken", "hello {", 3, print])
def test_what_is_no_program_is_refused(program: object) -> None:
    with pytest.raises(arm.UserError):
        arm.load(program)
