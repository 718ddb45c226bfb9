"""What our reader makes of an artifact is what jaxlib's converter makes of it."""

from collections.abc import Callable

import armillary as arm
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from armillary import _core
from jaxlib import _jax

from tests.stablehlo import artifacts
from tests.stablehlo.structure import differences

# The converter folds constants and drops what does nothing; so do these.
SIMPLER = "fixpoint(inline-calls,fold-constants,simplify,cse,dce)"


def converted(artifact: bytes) -> _core.Module:
    return _core.Module.from_proto(
        _jax.mlir.mlir_module_to_xla_computation(artifact).as_serialized_hlo_module_proto()
    )


@pytest.mark.parametrize("name", list(artifacts.PROGRAMS))
def test_same_as_the_converter(name: str) -> None:
    artifact = artifacts.artifact(artifacts.lower(name))
    ours, theirs = _core.Module.from_stablehlo(artifact), converted(artifact)
    ours.verify()
    if not differences(ours, theirs):
        return
    found = differences(arm.run_passes(ours, SIMPLER), arm.run_passes(theirs, SIMPLER), metadata=False)
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "version", ["0.9.0", "0.20.0", "1.0.0", "1.4.0", "1.8.0", "1.10.0", "1.13.7", "1.15.0"]
)
def test_versions_mean_the_same(version: str) -> None:
    for name in ("loop", "convolutions", "pooled"):
        lowered = artifacts.lower(name)
        ours = _core.Module.from_stablehlo(artifacts.artifact(lowered, version))
        pinned = _core.Module.from_stablehlo(artifacts.artifact(lowered))
        assert not differences(ours, pinned, metadata=False)  # older places have no ends


MESH = '#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>'


@pytest.mark.parametrize(
    "axes",
    [
        '[#stablehlo.axis_ref<name = "y">]',
        '[#stablehlo.axis_ref<name = "x">, #stablehlo.axis_ref<name = "y", sub_axis_info = (2)2>]',
    ],
    ids=["whole", "part"],
)
@pytest.mark.parametrize(
    "mesh",
    [
        "@mesh",
        f"#stablehlo.mesh<axes = [{MESH}]>",
        f"#stablehlo.mesh<axes = [{MESH}], device_ids = {{}}>",
    ],
    ids=["named", "inline", "ordered"],
)
def test_groups_are_the_axes_of_a_mesh(mesh: str, axes: str) -> None:
    mesh = mesh.format("dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>")
    artifact = _jax.mlir.serialize_portable_artifact(
        f"""module @m attributes {{mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32}} {{
          sdy.mesh @mesh = <["x"=2, "y"=4]>
          func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
            %0 = "stablehlo.all_reduce"(%x) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
              replica_groups = #stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = {axes}>,
              use_global_device_ids}}> ({{
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %1 = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %1 : tensor<f32>
            }}) : (tensor<4xf32>) -> tensor<4xf32>
            return %0 : tensor<4xf32> }} }}""",
        artifacts.VERSION,
    )
    ours, theirs = _core.Module.from_stablehlo(artifact), converted(artifact)
    ours.verify()
    assert not differences(ours, theirs, metadata=False)


def test_other_versions_are_refused_in_one_line() -> None:
    artifact = artifacts.artifact(artifacts.lower("loop"))
    for version in (b"9.17.0", b"0.03.0"):
        with pytest.raises(
            arm.UnsupportedError, match=r"StableHLO_v[\d.]+ in bytecode version 6: versions"
        ) as error:
            _core.Module.from_stablehlo(artifact.replace(b"1.17.0", version, 1))
        assert "\n" not in str(error.value)


def test_results_are_the_same() -> None:
    x = np.linspace(-2, 2, 24, dtype=np.float32).reshape(4, 6)
    for name in ("elementwise", "dots"):
        arguments = (x, x.T[:, :3].copy())[: len(artifacts.PROGRAMS[name][1])]
        artifact = artifacts.artifact(artifacts.lower(name))
        ours = arm.evaluate(_core.Module.from_stablehlo(artifact), *arguments)
        theirs = arm.evaluate(converted(artifact), *arguments)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


def test_names_and_places_come_from_the_program() -> None:
    module = _core.Module.from_stablehlo(artifacts.artifact(artifacts.lower("donated")))
    text = module.to_text()
    assert module.name == "jit_donated"
    assert "%mul = f32[3]" in text
    assert 'op_name="jit(donated)/mul"' in text
    assert "input_output_alias={ {0}: (0, {}, may-alias) }" in text


def test_an_operation_without_hlo_is_named_with_its_line() -> None:
    text = """func.func @main(%a: tensor<4x4xf32>) -> tensor<4xf32> {
        %0 = stablehlo.unary_einsum %a, config = "ij->i" : (tensor<4x4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32> }"""
    with pytest.raises(arm.UnsupportedError, match=r"stablehlo\.unary_einsum is an operation that HLO has"):
        arm.load(text)


@pytest.mark.parametrize("function", [jnp.cosh, jnp.sinh])
def test_only_complex_numbers_have_hyperbolic_ops(function: Callable) -> None:
    """Of real ones the decomposition runs, which rounds as its writers expect."""

    def text_of(dtype: type) -> str:
        lowered = jax.jit(function).lower(jax.ShapeDtypeStruct((4,), dtype))
        return _core.Module.from_stablehlo(artifacts.artifact(lowered)).to_text()

    assert f"{function.__name__}(" in text_of(jnp.complex64)
    assert f"{function.__name__}(" not in text_of(jnp.float32)
