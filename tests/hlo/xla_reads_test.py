"""XLA's own parser, in jaxlib, reads what we print, and finds the same module in it as in the original."""

import os
import re
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jaxlib import xla_client

HERE = Path(__file__).parent
REPRINT = os.environ["REPRINT"]
# Texts that XLA cannot read, because we are more liberal in what we accept; and those in which it invents other names.
NO_TWIN = {"forms.hlo", "computations_only.hlo", "names.hlo", "single_instruction.hlo", "single_named.hlo"}


def reprint(path: Path) -> str:
    done = subprocess.run([REPRINT, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def bodies(text: str) -> list[str]:
    """The computations of a module, in no order, without what XLA makes up where we state nothing."""
    return sorted(re.findall(r"^(?:ENTRY )?%.*?^\}.*?$", text, flags=re.S | re.M))


def xla_reads(text: str) -> str:
    return xla_client.hlo.hlo_module_from_text(text).to_string()


@pytest.mark.parametrize("path", sorted((HERE / "round_trip").glob("*.hlo")), ids=lambda p: p.stem)
def test_xla_reads_our_print(path: Path) -> None:
    ours = xla_reads(reprint(path))
    if path.name in NO_TWIN:
        return
    theirs = xla_reads(path.read_text())
    assert bodies(ours) == bodies(theirs)
    assert ours.splitlines()[0] == theirs.splitlines()[0]


def mlp(w1, w2, x, y):
    hidden = jnp.tanh(x @ w1)
    return jnp.mean((hidden @ w2 - y) ** 2)


def programs():
    a = jnp.ones((4, 8))
    yield "mlp_grad", jax.grad(mlp), (jnp.ones((8, 16)), jnp.ones((16, 2)), a, jnp.ones((4, 2)))
    yield "scan", lambda x: lax.scan(lambda c, v: (c * 0.5 + v, c.sum()), x[0], x), (a,)
    yield (
        "conv",
        lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME"),
        (jnp.ones((1, 3, 9, 9)), jnp.ones((4, 3, 3, 3))),
    )
    yield "sort_gather", lambda x: x[jnp.argsort(x.sum(1))], (a,)
    yield "cond", lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), (a,)
    yield "random", lambda k: jax.random.normal(k, (5,)), (jax.random.key(0),)
    yield "linalg", lambda x: jnp.linalg.solve(x @ x.T + jnp.eye(4), x), (a,)
    yield "fft", lambda x: jnp.fft.rfft(x).real, (a,)
    yield "top_k", lambda x: lax.top_k(x, 3), (a,)
    yield "dtypes", lambda x: (x.astype(jnp.bfloat16), x.astype(jnp.float8_e4m3fn), x.astype(jnp.int4)), (a,)


@pytest.mark.parametrize(
    ("name", "function", "args"), list(programs()), ids=lambda v: v if isinstance(v, str) else ""
)
def test_jax_programs_come_back(name, function, args, tmp_path: Path) -> None:
    lowered = jax.jit(function).lower(*args)
    for stage, text in {
        "before": lowered.compiler_ir("hlo").as_hlo_text(),
        "after": lowered.compile().as_text(),
    }.items():
        path = tmp_path / f"{name}.{stage}.hlo"
        path.write_text(text)
        assert bodies(xla_reads(reprint(path))) == bodies(xla_reads(text)), stage
