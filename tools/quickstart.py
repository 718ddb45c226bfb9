"""Trains a digit classifier twice, compiled by Armillary and by XLA, and shows how the two compare.

Run it with: bazel run //tools:quickstart [-- --svg FILE]    (FILE gets a picture of the output)
"""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits

WIDTHS = (64, 128, 64, 10)  # 8 x 8 pixels in, ten digits out
BATCH, EPOCHS, LEARNING_RATE = 64, 30, 2e-3
WANTED_ACCURACY = 0.95
HERE = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # where "bazel run" was typed
DUMPS = "quickstart_dumps"
Params = list[dict[str, Any]]


class State(NamedTuple):
    """What a training step takes and gives back: weights, Adam's two moments, the number of steps so far."""

    params: Params
    mean: Params
    square: Params
    count: Any


class Run(NamedTuple):
    """One training: its end, the loss of every step, and the seconds of the first call and of all others."""

    state: State
    losses: list[float]
    first_call: float
    others: float


def first_state(seed: int) -> State:
    rng = np.random.default_rng(seed)
    params = [
        {
            "w": (rng.standard_normal((rows, columns)) * np.sqrt(2 / rows)).astype(np.float32),
            "b": np.zeros(columns, np.float32),
        }
        for rows, columns in pairwise(WIDTHS)
    ]
    zeros = jax.tree.map(np.zeros_like, params)
    return State(params, zeros, zeros, np.float32(0))


def logits(params: Params, x: Any) -> Any:
    *hidden, last = params
    for layer in hidden:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def loss(params: Params, x: Any, labels: Any) -> Any:
    """Mean cross entropy of a batch."""
    log_probabilities = jax.nn.log_softmax(logits(params, x))
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, WIDTHS[-1]) * log_probabilities, axis=1))


def train_step(state: State, x: Any, labels: Any) -> tuple[State, Any]:
    """One step of Adam (Kingma and Ba, 2015)."""
    value, gradient = jax.value_and_grad(loss)(state.params, x, labels)
    count = state.count + 1
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.mean, gradient)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, state.square, gradient)
    rate = LEARNING_RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    params = jax.tree.map(lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-8), state.params, mean, square)
    return State(params, mean, square, count), value


def batches(x: np.ndarray, labels: np.ndarray, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every epoch's full batches in a fresh order, the same for each call with one seed."""
    rng = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            yield x[chosen], labels[chosen]


def train(name: str, step: Callable, x: np.ndarray, labels: np.ndarray, console: Console) -> Run:
    state, losses, seconds = first_state(seed=0), [], []
    columns = (TextColumn("{task.description:>10}"), BarColumn(40), MofNCompleteColumn(), TextColumn("steps"))
    with Progress(
        *columns, TimeElapsedColumn(), TextColumn("{task.fields[loss]}"), console=console
    ) as progress:
        task = progress.add_task(name, total=EPOCHS * (len(x) // BATCH), loss="")
        for batch, wanted in batches(x, labels, seed=1):
            start = time.perf_counter()
            state, value = jax.block_until_ready(step(state, batch, wanted))
            seconds.append(time.perf_counter() - start)
            losses.append(float(value))
            progress.update(task, advance=1, loss=f"loss {losses[-1]:.4f}")
    return Run(state, losses, seconds[0], sum(seconds[1:]))


def accuracy(state: State, x: np.ndarray, labels: np.ndarray) -> float:
    for layer in state.params[:-1]:
        x = np.maximum(x @ np.asarray(layer["w"]) + np.asarray(layer["b"]), 0)
    scores = x @ np.asarray(state.params[-1]["w"]) + np.asarray(state.params[-1]["b"])
    return float((scores.argmax(axis=1) == labels).mean())


def difference(ours: Any, theirs: Any) -> float:
    """Largest absolute difference of any leaf, relative to that leaf's largest magnitude."""
    pairs = zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
    return max(float(np.max(np.abs(np.asarray(a) - b)) / (np.max(np.abs(b)) + 1e-30)) for a, b in pairs)


def sparkline(values: list[float], width: int = 60) -> str:
    """A curve in one line; the scale is logarithmic."""
    bars = "▁▂▃▄▅▆▇█"
    logs = np.log([float(np.mean(part)) for part in np.array_split(values, width)])
    heights = (logs - logs.min()) / (np.ptp(logs) + 1e-12) * (len(bars) - 1)
    return "".join(bars[round(float(height))] for height in heights)


def report(ours: Run, theirs: Run, tests: tuple[np.ndarray, np.ndarray], console: Console) -> None:
    table = Table("", "Armillary", "XLA:CPU")
    steps = len(ours.losses) - 1
    rows: list[tuple[str, Callable[[Run], str]]] = [
        ("first call (trace, compile, run)", lambda run: f"{run.first_call * 1e3:.0f} ms"),
        ("every further step", lambda run: f"{run.others / steps * 1e6:.0f} µs"),
        ("last loss", lambda run: f"{run.losses[-1]:.5f}"),
        ("test accuracy", lambda run: f"{accuracy(run.state, *tests):.2%}"),
    ]
    for label, show in rows:
        table.add_row(label, show(ours), show(theirs))
    console.print(f"\nloss {ours.losses[0]:.2f} [cyan]{sparkline(ours.losses)}[/] {ours.losses[-1]:.4f}\n")
    console.print(table)


def save_picture(console: Console, file: str) -> None:
    """The output so far as SVG, in whatever monospaced font the reader has."""
    svg = console.export_svg(title="bazel run //tools:quickstart")
    without_fonts = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    (HERE / file).write_text(without_fonts)


def main() -> int:
    console = Console(record=True)
    digits = load_digits()
    x, labels = (digits.data / 16).astype(np.float32), digits.target.astype(np.int32)
    order = np.random.default_rng(7).permutation(len(x))
    training, tests = order[360:], (x[order[:360]], labels[order[:360]])

    jax.block_until_ready(jnp.zeros(1) + 1)  # XLA starts outside the clock
    theirs = train("XLA:CPU", jax.jit(train_step), x[training], labels[training], console)
    one_of_theirs = jax.jit(train_step)(first_state(0), x[:BATCH], labels[:BATCH])

    # XLA has read its flags by now, so that these dumps are all ours.
    os.environ["XLA_FLAGS"] = (
        f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={HERE / DUMPS} --xla_dump_hlo_pass_re=.*"
    )
    import armillary as arm

    step = arm.jit(train_step)
    ours = train("Armillary", step, x[training], labels[training], console)
    report(ours, theirs, tests, console)
    one = difference(step(first_state(0), x[:BATCH], labels[:BATCH]), one_of_theirs)
    console.print(f"difference from XLA:CPU after one step: {one:.1e} of the largest value", soft_wrap=True)
    console.print(f"the program before, between and after the passes: {DUMPS}/", soft_wrap=True)
    if sys.argv[1:2] == ["--svg"]:
        save_picture(console, sys.argv[2])

    reached = accuracy(ours.state, *tests)
    if reached < WANTED_ACCURACY:
        console.print(f"[red]test accuracy {reached:.2%} is below {WANTED_ACCURACY:.0%}[/]")
    return int(reached < WANTED_ACCURACY)


if __name__ == "__main__":
    sys.exit(main())
