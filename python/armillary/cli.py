"""The `armillary` command: thin commands over the Python package."""

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from armillary import _core

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="""A small, readable XLA: run, optimise and inspect HLO programs.

FILE is HLO text, an HLO proto, StableHLO text, bytecode or a portable artifact; the kind is found by looking.

[bold]Examples[/]

  armillary run model.hlo --random

  armillary run model.mlir --args data.npz --out results.npz

  armillary run model.pb --random --compare interp

  armillary opt model.hlo --passes=dce,cse

  armillary opt model.mlir --emit proto -o model.pb
""",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from armillary import __version__

        print(f"armillary {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="HLO or StableHLO in any form.", show_default=False)
]


@app.command(rich_help_panel="Programs")
def run(
    file: File,
    args: Annotated[
        Path | None,
        typer.Option(
            help="A .npz file: one array per parameter leaf, in order (arr_0, arr_1, ... or by name)."
        ),
    ] = None,
    random: Annotated[
        bool, typer.Option("--random", help="Random arguments: normal, small integers, coin flips.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the random arguments.", min=0)] = 0,
    target: Annotated[str, typer.Option(help="cpu, or interp for the interpreter.")] = "cpu",
    compare: Annotated[
        str | None, typer.Option(help="Another target to compare with, such as interp.", show_default=False)
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="Largest difference, relative to the largest value; by default 1e-5, or a few roundings of the"
            " narrowest float in the program.",
            show_default=False,
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(help="Runs to time; the fastest counts.", min=1)] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Write the results to this .npz file.", show_default=False)
    ] = None,
) -> None:
    """Compiles a program, runs it and prints the results.

    With --compare the exit status is 1 when any result differs by more than the tolerance.

    [bold]Examples[/]

      armillary run model.hlo --random --seed 3

      armillary run model.hlo --args data.npz --target interp --out results.npz

      armillary run model.hlo --random --compare interp --tolerance 1e-6
    """
    from armillary import _run

    sys.exit(
        _run.run(
            _run.Options(file, args, random, seed, target, compare, tolerance, repeat, out), print_line=print
        )
    )


@app.command(rich_help_panel="Programs")
def simulate(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE_OR_SCRIPT",
            help="HLO or StableHLO in any form, or a Python script that defines `step` and `arguments`.",
            show_default=False,
        ),
    ],
    topology: Annotated[str, typer.Option(help="chip:shape, as in v5e:4x4, v7x:core, v6e:16x16+2.")],
    values: Annotated[
        str,
        typer.Option(
            help="none: only the time. program: also the results. array: small products in the array itself."
        ),
    ] = "none",
    seed: Annotated[int, typer.Option(help="Of the random arguments of a FILE that is also run.", min=0)] = 0,
    chip_file: Annotated[
        Path | None, typer.Option(help="A chip of your own, in TOML.", show_default=False)
    ] = None,
    allow_oom: Annotated[
        bool, typer.Option("--allow-oom", help="Go on with a program that does not fit HBM.")
    ] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Write a trace that Perfetto opens.", show_default=False)
    ] = None,
    xprof: Annotated[
        Path | None, typer.Option(help="Write a profile into this folder for XProf.", show_default=False)
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with the timeline and plots.", show_default=False)
    ] = None,
) -> None:
    """Says how long a program would take on a TPU pod, and why.

    [bold]Examples[/]

      armillary simulate model.hlo --topology v5e:1x1

      armillary simulate step.py --topology v6e:2x4 --trace out.json --html out.html
    """
    from armillary import _simulate_cli
    from armillary._simulate import check_values

    _simulate_cli.run(
        _simulate_cli.Options(
            file, topology, check_values(values), seed, chip_file, allow_oom, trace, xprof, html
        ),
        print_line=print,
    )


@app.command(rich_help_panel="Programs")
def bisect(
    file: File,
    args: Annotated[Path | None, typer.Option(help="A .npz file, as for run.", show_default=False)] = None,
    random: Annotated[bool, typer.Option("--random", help="Random arguments, as for run.")] = False,
    seed: Annotated[int, typer.Option(help="Of the random arguments.", min=0)] = 0,
    tolerance: Annotated[
        float | None, typer.Option(help="Largest relative difference, as for run.", show_default=False)
    ] = None,
) -> None:
    """Names the rewrite that makes cpu's results differ from the interpreter's.

    The exit status is 1 when they differ.

    [bold]Example[/]

      armillary bisect model.hlo --random
    """
    from armillary import _run

    options = _run.Options(file, args, random, seed, "cpu", None, tolerance, 1, None)
    sys.exit(_run.bisect(options, print_line=print))


@app.command(rich_help_panel="Programs")
def opt(
    file: File,
    passes: Annotated[str, typer.Option(help='A pipeline: "dce,cse", "fixpoint(simplify,dce)".')] = "",
    emit: Annotated[str, typer.Option(help="text, proto, dot or html.")] = "text",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write here instead of to stdout.", show_default=False)
    ] = None,
    dump: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the text after each pass that changed something.", show_default=False
        ),
    ] = None,
    stats: Annotated[bool, typer.Option("--stats", help="Print what each pass did to stderr.")] = False,
    verify: Annotated[bool, typer.Option(help="Verify after every pass.")] = True,
) -> None:
    """Reads a program, verifies it, runs passes over it and writes it out.

    [bold]Examples[/]

      armillary opt model.hlo --passes=inline-calls,dce --stats

      armillary opt model.hlo --passes="fixpoint(simplify,cse,dce)" --dump /tmp/steps

      armillary opt model.mlir --emit dot | dot -Tsvg > model.svg
    """
    from armillary import _load
    from armillary._errors import user_error

    emitters = {
        "text": lambda m: m.to_text().encode(),
        "proto": lambda m: m.to_proto(),
        "dot": lambda m: m.to_dot().encode(),
        "html": lambda m: m.to_html().encode(),
    }
    if emit not in emitters:
        raise user_error(f"--emit is {emit!r}, but must be one of {', '.join(emitters)}")
    module, records = _core.run_passes(_load.load(file), passes, verify, str(dump or ""))
    if stats:
        _print_records(records)
    data = emitters[emit](module)
    if out is not None:
        out.write_bytes(data)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _print_records(records: list[dict]) -> None:
    for r in records:
        counts = f"{r['instructions_before']} -> {r['instructions_after']} instructions"
        print(
            f"{r['pass']:<24} {r['seconds'] * 1e3:9.2f} ms {r['rewrites']:7} rewrites  {counts}",
            file=sys.stderr,
        )


@app.command(rich_help_panel="Tables")
def passes() -> None:
    """Lists the passes that `armillary opt --passes` knows."""
    _print_table(["pass", "what it does"], [[row["name"], row["doc"]] for row in _core.list_passes()])


@app.command(rich_help_panel="Tables")
def ops(
    name: Annotated[
        str | None, typer.Argument(help="One op, with its attributes.", show_default=False)
    ] = None,
) -> None:
    """Lists the op table: what each op means, and which cannot run yet.

    [bold]Examples[/]

      armillary ops

      armillary ops dot
    """
    from armillary._errors import user_error

    table = _core.list_ops()
    if name is None:
        rows = [
            [op["name"], op["meaning"], "" if op["runs"] else "cannot run yet", op["doc"]] for op in table
        ]
        return _print_table(["op", "meaning", "", "what it does"], rows)
    for op in table:
        if op["name"] == name:
            rows = [
                [key, ", ".join(value) if isinstance(value, list) else str(value)]
                for key, value in op.items()
            ]
            return _print_table(["", name], rows)
    import difflib

    near = difflib.get_close_matches(name, [op["name"] for op in table], 1)
    raise user_error(f"there is no op {name!r}" + (f", did you mean {near[0]}?" if near else ""))


@app.command(rich_help_panel="Tables")
def flags() -> None:
    """Lists the flags that ARMILLARY_FLAGS may set: ARMILLARY_FLAGS="threads=4,verify_each=true"."""
    rows = [
        [f["name"], f["type"], f["values"], f["default"], f["value"], f["doc"]] for f in _core.list_flags()
    ]
    _print_table(["flag", "type", "values", "default", "now", "what it does"], rows)


@app.command(rich_help_panel="Tables")
def targets() -> None:
    """Lists what programs can be compiled for."""
    rows = [[t["name"], t["unavailable"] or "available", t["doc"]] for t in _core.list_targets()]
    _print_table(["target", "", "what it is"], rows)


@app.command(rich_help_panel="Tables")
def chips(
    name: Annotated[
        str | None, typer.Argument(help="One chip, with all its constants.", show_default=False)
    ] = None,
    sources: Annotated[bool, typer.Option("--sources", help="Where each constant comes from.")] = False,
) -> None:
    """Lists the chips that the simulator knows.

    [bold]Examples[/]

      armillary chips

      armillary chips v5e --sources
    """
    from armillary import sim

    _print_table(*sim.chip_table(name, sources))


def _print_table(head: list[str], rows: list[list[str]]) -> None:
    """A rich table on a terminal, tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in rows:
            print("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*head, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(escape, row))
    Console().print(table)


def _fail(message: str, status: int) -> NoReturn:
    print(f"armillary: {message}", file=sys.stderr)
    sys.exit(status)


def main() -> None:
    """Exit status: 0 well, 1 a comparison failed or Armillary is at fault, 2 the input is wrong or cannot run."""
    usage_error: Any = typer.BadParameter.__mro__[1]  # Typer's own copy of Click has no public name for it
    try:
        sys.exit(app(standalone_mode=False))
    except usage_error as error:
        if not (message := error.format_message()):  # no command at all: the help is printed already
            sys.exit(2)
        _fail(f"{message} (see armillary --help)", 2)
    except (typer.Abort, KeyboardInterrupt):
        _fail("interrupted", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except _core.InternalError as error:
        _fail(f"a mistake of ours: {error}", 1)
    except (_core.Error, OSError) as error:
        _fail(str(error), 2)
