"""The wheel installs into an empty virtual environment without a network, and a program runs from there."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

WHEEL = Path(os.environ["WHEEL"]).resolve()
LARGEST_BYTES = 60 << 20

PROGRAM = """
import armillary as arm, numpy as np
step = arm.jit(lambda w, x: (w @ x).sum() + 1)
print(arm.__file__)
print(float(step(np.eye(3, dtype=np.float32), np.ones(3, np.float32))))
"""


JAX_PROGRAM = """
import jax, jax.numpy as jnp
print(jax.devices()[0].platform, float(jax.jit(lambda w, x: (w @ x).sum() + 1)(jnp.eye(3), jnp.ones(3))))
"""


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds our wheel and nothing else."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    pip = [sys.executable, "-m", "pip", "--python", place / "bin/python", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", WHEEL], check=True)
    return place


def run(venv: Path, *command: str, **environment: str) -> str:
    """What a command of the environment prints; the locked packages stand for the wheel's requirements."""
    env = {
        "PATH": f"{venv}/bin:/usr/bin:/bin",
        "PYTHONPATH": os.environ["LOCKED_PACKAGES"],
        "HOME": str(venv),
        **environment,
    }
    result = subprocess.run(command, cwd=venv, env=env, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_wheel_is_small_and_tagged_for_its_platform() -> None:
    assert WHEEL.stat().st_size <= LARGEST_BYTES
    assert f"cp{sys.version_info[0]}{sys.version_info[1]}-manylinux_" in WHEEL.name


def test_wheel_is_typed_and_carries_what_it_loads() -> None:
    names = zipfile.ZipFile(WHEEL).namelist()
    assert "armillary/py.typed" in names
    assert "armillary/_core.so" in names
    assert any(name.startswith("armillary/libprotobuf.so") for name in names)


def test_a_program_runs_from_the_installed_wheel(venv: Path) -> None:
    where, value = run(venv, "python", "-c", PROGRAM).split()
    assert Path(where).is_relative_to(venv)
    assert float(value) == 4.0


def test_jax_finds_the_platform_of_the_installed_wheel(venv: Path) -> None:
    assert run(venv, "python", "-c", JAX_PROGRAM, JAX_PLATFORMS="armillary").split() == ["armillary", "4.0"]
    assert run(venv, "python", "-c", JAX_PROGRAM).split() == ["cpu", "4.0"]


def test_the_command_is_installed(venv: Path) -> None:
    assert "run" in run(venv, "armillary", "--help")
