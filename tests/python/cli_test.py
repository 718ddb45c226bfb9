"""The command: what it prints, and how it refuses."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import armillary as arm
import numpy as np
import pytest

PROGRAM = """HloModule example

ENTRY %main (x: f32[4,2], i: s32[]) -> (f32[4,2], f32[2]) {
  %x = f32[4,2]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %zero = s32[] constant(0)
  %unused = s32[] add(%i, %i)
  %row = f32[1,2]{1,0} dynamic-slice(%x, %i, %zero), dynamic_slice_sizes={1,2}
  %flat = f32[2]{0} reshape(%row)
  %y = f32[4,2]{1,0} tanh(%x)
  ROOT %r = (f32[4,2]{1,0}, f32[2]{0}) tuple(%y, %flat)
}
"""


def armillary(
    *arguments: object, status: int = 0, cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "armillary", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "dumb", "COLUMNS": "100"}
    done = subprocess.run(command, capture_output=True, env=env, cwd=cwd)
    assert done.returncode == status, done.stdout.decode() + done.stderr.decode()
    return done


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "example.hlo"
    path.write_text(PROGRAM)
    return path


def test_run_compares_with_the_interpreter(file: Path) -> None:
    out = armillary("run", file, "--random", "--compare", "interp").stdout.decode()
    assert "example on cpu" in out
    assert "result 1: float32[2]" in out
    assert "within the tolerance" in out


def test_run_fails_when_results_differ(file: Path) -> None:
    out = armillary("run", file, "--random", "--compare", "interp", "--tolerance", "-1", status=1).stdout
    assert b"beyond the tolerance" in out


def test_a_tolerance_is_a_number(file: Path) -> None:
    for command in ("run", "bisect"):
        assert b"is no number" in armillary(command, file, "--random", "--tolerance", "nan", status=2).stderr


def test_without_a_command_there_is_help_alone() -> None:
    done = armillary(status=2)
    assert b"Usage" in done.stdout + done.stderr
    assert b"armillary:" not in done.stderr


def test_run_takes_and_gives_arrays(file: Path, tmp_path: Path) -> None:
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.savez(tmp_path / "in.npz", x, np.int32(2))
    for target in ("cpu", "interp"):
        armillary(
            "run", file, "--args", tmp_path / "in.npz", "--target", target, "--out", tmp_path / "out.npz"
        )
        results = np.load(tmp_path / "out.npz")
        np.testing.assert_allclose(results["arr_0"], np.tanh(x), rtol=1e-6)
        np.testing.assert_array_equal(results["arr_1"], x[2])


def test_the_same_seed_gives_the_same_numbers(file: Path) -> None:
    def lines(seed: int) -> list[bytes]:
        return armillary("run", file, "--random", "--seed", seed).stdout.splitlines()[1:]

    assert lines(3) == lines(3) != lines(4)


def test_run_draws_scalars_of_every_kind(tmp_path: Path) -> None:
    path = tmp_path / "scalars.hlo"
    kinds = ["c64", "pred", "u8", "bf16"]
    parameters = "\n".join(f"  x{k} = {kind}[] parameter({k})" for k, kind in enumerate(kinds))
    path.write_text(f"ENTRY e {{\n{parameters}\n  ROOT r = f32[] abs(x0)\n}}")
    assert b"within the tolerance" in armillary("run", path, "--random", "--compare", "interp").stdout


def test_bisect_has_nothing_to_do_where_results_agree(file: Path) -> None:
    assert b"agree" in armillary("bisect", file, "--random").stdout
    out = armillary("bisect", file, "--random", "--tolerance", "-1", status=1).stdout
    assert b"no pass is to blame" in out


def test_bisect_names_the_rewrite(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from armillary import _core, _run

    correct = _run.run_on

    def run_on(target: str, *arguments: Any) -> _run.Result:
        result = correct(target, *arguments)
        fuel = int(_core.get_flag("pass_fuel"))
        broken = target == "cpu" and (fuel < 0 or fuel >= 2)
        return result._replace(arrays=[a + 1 for a in result.arrays]) if broken else result

    monkeypatch.setattr(_run, "run_on", run_on)
    lines: list[str] = []
    options = _run.Options(file, None, True, 0, "cpu", None, None, 1, None)
    assert _run.bisect(options, lines.append) == 1
    assert lines[0].startswith("rewrite 2 breaks the result: "), lines
    assert _core.get_flag("pass_fuel") == "-1"


def test_opt_runs_passes_and_prints_text(file: Path) -> None:
    out = armillary("opt", file, "--passes=dce").stdout.decode()
    assert "tanh" in out
    assert "unused" not in out


def test_opt_dumps_each_step(file: Path, tmp_path: Path) -> None:
    done = armillary("opt", file, "--passes=dce,cse", "--dump", tmp_path / "steps", "--stats")
    names = [path.name for path in (tmp_path / "steps").iterdir()]
    assert any("after_dce" in name for name in names)
    assert b"dce" in done.stderr


@pytest.mark.parametrize("emit", ["text", "proto"])
def test_what_opt_emits_can_be_read_again(file: Path, tmp_path: Path, emit: str) -> None:
    armillary("opt", file, "--emit", emit, "-o", tmp_path / "again")
    again, once = (armillary("opt", path).stdout.split(b"\n", 1) for path in (tmp_path / "again", file))
    assert again[0].startswith(once[0])  # a proto always states the entry's layout
    assert again[1] == once[1]


def test_opt_draws(file: Path) -> None:
    assert b"digraph" in armillary("opt", file, "--emit", "dot").stdout
    assert b"<html" in armillary("opt", file, "--emit", "html").stdout


def test_stablehlo_and_protos_are_found_out(tmp_path: Path) -> None:
    mlir = "module @m {\n  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n    return %a : tensor<4xf32>\n  }\n}\n"
    (tmp_path / "a").write_text(mlir)
    (tmp_path / "b").write_bytes(arm.load(mlir).to_proto())
    assert armillary("opt", tmp_path / "a").stdout == armillary("opt", tmp_path / "b").stdout


def test_the_tables_are_lines_in_a_pipe() -> None:
    assert b"tanh\tscalar\t" in armillary("ops").stdout
    assert b"\ndce\t" in b"\n" + armillary("passes").stdout
    assert b"threads\t" in armillary("flags").stdout
    assert b"cpu\tavailable\t" in armillary("targets").stdout
    assert b"dot_general" in armillary("ops", "dot").stdout


def test_help_teaches_by_example() -> None:
    for command in ([], ["run"], ["opt"], ["ops"]):
        out = armillary(*command, "--help").stdout.decode()
        assert "Examples" in out
        assert f"armillary {' '.join(command)}" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "no_such_file"], "no_such_file: No such file or directory"),
        (["run", "example.hlo"], "pass --args FILE.npz or --random"),
        (["run", "example.hlo", "--random", "--target", "abacus"], "no target 'abacus'"),
        (["run", "example.hlo", "--random", "--compare", "abacus"], "no target 'abacus'"),
        (["run", "example.hlo", "--random", "--args", "x.npz"], "exclude each other"),
        (["run", "example.hlo", "--random", "--out", "nowhere/x.npz"], "folder does not exist"),
        (["run", "example.hlo", "--random", "--seed", "-1"], "--seed"),
        (["opt", "example.hlo", "--passes=dce", "--dump", "/dev/null/x"], "cannot write"),
        (["run", "example.hlo", "--args", "example.hlo"], "no .npz file"),
        (["opt", "example.hlo", "--passes=dec"], "dce"),
        (["opt", "example.hlo", "--emit", "tex"], "text, proto, dot, html"),
        (["opt", "wrong.hlo"], "wrong.hlo:4:"),
        (["opt", "empty"], "empty: the file is empty"),
        (["opt", "."], "Is a directory"),
        (["opt"], "Missing argument"),
        (["opt", "example.hlo", "--bogus"], "--bogus"),
        (["oops"], "No such command 'oops'"),
        (["ops", "dto"], "did you mean dot?"),
        (["run", "unbounded.hlo", "--random"], "f32[?,4] has no size"),
        (["run", "endless.hlo", "--random"], "endless.hlo: no random arguments"),
        (["opt", "noise"], "noise: 300 bytes that are no HloModuleProto"),
    ],
)
def test_wrong_input_gives_one_line_and_status_2(arguments: list[str], message: str, file: Path) -> None:
    (file.parent / "wrong.hlo").write_text(
        PROGRAM.replace("f32[4,2]{1,0} parameter(0)", "f32[4,2]{1,0} parametre(0)")
    )
    (file.parent / "empty").write_text("")
    (file.parent / "endless.hlo").write_text("f32[9999999999999] negate(f32[9999999999999] x)")
    (file.parent / "unbounded.hlo").write_text("f32[?,4] negate(f32[?,4] x)")
    (file.parent / "noise").write_bytes(bytes(range(255, 155, -1)) * 3)
    done = armillary(*arguments, status=2, cwd=file.parent)
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("armillary: ")
    assert message in line


@pytest.mark.parametrize("arguments", [["ops", "zz"], ["opt", "example.hlo", "--passes=nope"]])
def test_a_name_that_is_like_no_other_gets_no_suggestion(arguments: list[str], file: Path) -> None:
    error = armillary(*arguments, status=2, cwd=file.parent).stderr.decode()
    assert "did you mean" not in error and "nearest" not in error


def test_version() -> None:
    assert armillary("--version").stdout.decode() == f"armillary {arm.__version__}\n"


@pytest.mark.parametrize("kind", ["f8e3m4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e8m0fnu", "f4e2m1fn"])
def test_narrow_floats_are_compared_by_their_own_rounding(kind: str, file: Path) -> None:
    (file.parent / "narrow.hlo").write_text(f"""
plus {{
  x = {kind}[] parameter(0)
  y = {kind}[] parameter(1)
  ROOT r = {kind}[] add(x, y)
}}

ENTRY e {{
  p = {kind}[5,17] parameter(0)
  z = {kind}[] constant(1)
  ROOT s = {kind}[5] reduce(p, z), dimensions={{1}}, to_apply=plus
}}""")
    armillary("run", "narrow.hlo", "--random", "--compare", "interp", cwd=file.parent)
