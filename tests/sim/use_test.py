"""armillary.simulate as people call it: static arguments, keys, scripts, and what is refused in a line."""

from pathlib import Path
from typing import Any

import armillary as arm
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from armillary.cli import app
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P
from typer.testing import CliRunner

ONES = np.ones(3, np.float32)


def scale(x: Any, n: int) -> Any:
    return x * n


@pytest.mark.parametrize(
    "scaled",
    [
        jax.jit(scale, static_argnums=1),
        jax.jit(scale, static_argnums=-1),
        jax.jit(scale, static_argnames="n"),
        arm.jit(scale, static_argnums=1),
    ],
)
def test_static_arguments_are_no_arguments_of_the_program(scaled: Any) -> None:
    np.testing.assert_array_equal(arm.simulate(scaled, ONES, 3).values, 3 * ONES)


def test_static_arguments_may_be_named() -> None:
    scaled = jax.jit(scale, static_argnames="n")
    np.testing.assert_array_equal(arm.simulate(scaled, ONES, n=3).values, 3 * ONES)


def test_keys_come_back_as_keys() -> None:
    key = jax.random.key(7)
    keys = arm.simulate(jax.random.split, key).values
    assert jax.dtypes.issubdtype(keys.dtype, jax.dtypes.prng_key)
    want = jax.random.key_data(jax.random.split(key))
    np.testing.assert_array_equal(jax.random.key_data(keys), want)
    compiled = arm.compile(jax.jit(jax.random.split).lower(key))
    np.testing.assert_array_equal(jax.random.key_data(compiled(key)), want)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"chip": "v5e"}, "load_chip"), ({"topology": None}, "v5e:4x4"), ({"topology": 4}, "v5e:4x4")],
)
def test_wrong_options_are_refused_in_words(options: dict[str, Any], said: str) -> None:
    with pytest.raises(arm.UserError, match=said):
        arm.simulate(jnp.sin, ONES, **options)


def run(script: Path, text: str, *options: str) -> Any:
    script.write_text("import jax, jax.numpy as jnp\nx = jax.ShapeDtypeStruct((8, 8), 'float32')\n" + text)
    return CliRunner().invoke(app, ["simulate", str(script), "--topology", "v5e:1x1", *options])


def test_a_script_finds_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "beside_the_script.py").write_text("import jax.numpy as jnp\nstep = jnp.sin\n")
    done = run(tmp_path / "s.py", "from beside_the_script import step\narguments = (x,)\n")
    assert done.exit_code == 0, done.exception


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("step = jnp.sin\narguments = 5\n", "`arguments` is int"),
        ("step = 5\narguments = (x,)\n", "`step` is int"),
        ("step = lambda a: a\narguments = (x, x)\n", "does not take the 2 of `arguments`"),
        ("1 / 0\n", "raised ZeroDivisionError"),
    ],
)
def test_wrong_scripts_are_refused_in_a_line(tmp_path: Path, text: str, said: str) -> None:
    refused = run(tmp_path / "s.py", text)
    assert isinstance(refused.exception, arm.UserError)
    assert said in str(refused.exception)
    if "ZeroDivision" in said:
        assert 's.py", line 3' in refused.stderr
        assert "runpy" not in refused.stderr


@pytest.mark.parametrize("option", ["--trace", "--html", "--xprof"])
def test_what_cannot_be_written_is_said_first(tmp_path: Path, option: str) -> None:
    (tmp_path / "file").touch()
    refused = run(tmp_path / "s.py", "raise ValueError\n", option, str(tmp_path / "file" / "x"))
    assert isinstance(refused.exception, arm.UserError)
    assert "cannot write" in str(refused.exception)


def test_a_chip_without_bf16_has_all_reports(tmp_path: Path) -> None:
    x = jax.ShapeDtypeStruct((256, 256), jnp.float32)
    result = arm.simulate(lambda x: x @ x, x, topology="v1:1")
    assert "int8 peak" in result.report()
    assert " of 0.00 TFLOP/s" not in result.report()
    page = result.html()
    assert page.startswith("<!doctype html>")
    assert "NaN" not in page and "Infinity" not in page
    assert result.write_xprof(tmp_path).stat().st_size > 0


def test_the_dearest_branch_is_charged_and_said_to_be() -> None:
    x = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    p = jax.ShapeDtypeStruct((), jnp.bool_)
    result = arm.simulate(lambda p, x: jax.lax.cond(p, lambda x: x @ x, lambda x: x, x), p, x)
    assert any("which branch is taken is not known" in note for note in result.notes)


def test_fewer_rows_than_a_tile_take_no_longer() -> None:
    def attend(x: Any, w: Any) -> Any:
        return jax.nn.softmax(x @ x.T) @ x @ w.T

    def seconds(rows: int) -> float:
        x, w = (jax.ShapeDtypeStruct((rows, 128), jnp.float32), jax.ShapeDtypeStruct((128, 128), jnp.float32))
        return arm.simulate(attend, x, w, topology="v6e:1x1").seconds

    assert seconds(3) <= seconds(7) <= seconds(8) <= seconds(16)


def data_parallel_seconds(by_hand: bool) -> tuple[float, dict[str, Any]]:
    mesh = AbstractMesh((16,), ("x",))

    def grad(w: Any, x: Any) -> Any:
        return jax.grad(lambda w, x: jnp.tanh(x @ w).astype(jnp.float32).sum())(w, x)

    f: Any = grad
    if by_hand:
        local = lambda w, x: jax.lax.psum(grad(w, x), "x")  # noqa: E731
        f = jax.shard_map(local, mesh=mesh, in_specs=(P(), P("x")), out_specs=P(), check_vma=False)
    w = jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16, sharding=NamedSharding(mesh, P()))
    x = jax.ShapeDtypeStruct((65536, 1024), jnp.bfloat16, sharding=NamedSharding(mesh, P("x")))
    result = arm.simulate(f, w, x, topology="v5e:4x4")
    assert not any("computes all of" in note for note in result.notes)
    return result.seconds, result.communication_by_kind


def test_data_parallelism_by_annotation_is_as_fast_as_by_hand() -> None:
    annotated, kinds = data_parallel_seconds(by_hand=False)
    assert set(kinds) == {"all-reduce"}
    assert annotated == pytest.approx(data_parallel_seconds(by_hand=True)[0], rel=0.05)


def test_what_every_device_computes_whole_is_noted() -> None:
    mesh = AbstractMesh((4,), ("x",))
    x = jax.ShapeDtypeStruct((4096,), jnp.float32, sharding=NamedSharding(mesh, P("x")))
    notes = arm.simulate(jnp.sort, x, topology="v5e:2x2").notes
    assert any("every device computes all of sort" in note for note in notes)
