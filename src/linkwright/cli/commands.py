"""The commands: each reads its words and hands over to a module that does the work."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..errors import LinkwrightError
from .app import BaseOption, ClosureOption, FileArgument, JsonOption, app, read
from .show import CheckFailedError, emit_json, print_table, working


@app.command()
def gallery(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Print this one's file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the mechanisms that come along, or print one's file.

    Example: linkwright gallery elbow > my_arm.toml
    """
    from ..files import gallery as find
    from ..files import write
    from ..mechanism.gallery_files import gallery_file, gallery_names, headline

    if name is not None:
        stored = gallery_file(name)
        text = write(find(name), "toml")[0] if stored is None else stored[1]
        emit_json({"name": name, "file": text}) if as_json else print(text, end="")
        return
    rows = {entry: headline(entry) for entry in gallery_names()}
    if as_json:
        emit_json(rows)
        return
    print_table(["name", "what it is"], list(rows.items()))


@app.command()
def info(
    file: FileArgument,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a mechanism is made of, and what its file says that is not used.

    Example: linkwright info robot.urdf --base free
    """
    from ..report.description import describe
    from .info import print_description

    description = describe(read(file, base, closure))
    emit_json(description) if as_json else print_description(description)


@app.command()
def derive(
    file: FileArgument,
    by: Annotated[str, typer.Option(help="The formulation.")] = "recursive",
    as_: Annotated[
        str | None, typer.Option("--as", help="text (unless said), latex, html or json.")
    ] = None,
    what: Annotated[
        str | None,
        typer.Option(
            help="Quantities to write out, separated by commas: mass_matrix or M, C, g, tau, qdd, "
            "christoffel, H, momenta, linearised, jacobian:tool, …; state_rates are those of the "
            "formulation's own states.",
            show_default=False,
        ),
    ] = None,
    parameters: Annotated[
        str, typer.Option(help="'symbolic', 'numeric', 'base', or names to keep as symbols.")
    ] = "symbolic",
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Write the steps of computation instead of closed forms."),
    ] = False,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Derive the equations of motion and write them in closed form; what is longer than a page
    is written as named variables in the order of computation.

    Example: linkwright derive elbow --as latex
    """
    from .derive import print_equations

    if as_json and as_ not in (None, "json"):
        raise LinkwrightError(f"--as {as_} and --json are both given", remedy="give one of them")
    mechanism = read(file, base, closure)
    whole = parameters in ("symbolic", "numeric", "base")
    kept = parameters if whole else parameters.split(",")
    form = "json" if as_json else as_ or "text"
    chosen = what.split(",") if what is not None else None
    print_equations(mechanism, by, form, chosen, kept, steps)


@app.command()
def base(
    file: FileArgument,
    parameters: Annotated[
        str,
        typer.Option(
            help="Instead of the base parameters, the regressor Y for these: forces = Y*theta; "
            "expressions of the mechanism's parameters, separated by commas.",
            show_default=False,
        ),
    ] = "",
    root: Annotated[
        str | None,
        typer.Option("--base", help="'free' lets the root of a URDF float.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the base parameters: the fewest inertial numbers that the joints' forces depend on.
    Or, with --parameters, the regressor for others, its rank, and which columns are redundant.

    Examples: linkwright base puma560
    linkwright base elbow --parameters "m1*lc1^2 + m2*l1^2 + I1, m2*lc2^2 + I2, m2*l1*lc2, m1*lc1,
    m2*l1, m2*lc2"
    """
    from ..identify import base_parameters, regressor_of

    mechanism = read(file, root)
    if not parameters:
        found = base_parameters(mechanism)
        emit_json(found.to_dict()) if as_json else print(found)
        return
    from .regressor import print_regressor

    made = regressor_of(mechanism, [part.strip() for part in parameters.split(",")])
    emit_json(made.to_dict()) if as_json else print_regressor(made)


@app.command()
def verify(
    file: FileArgument,
    by: Annotated[
        str | None,
        typer.Option(help="Formulations to compare with, separated by commas; all if not said."),
    ] = None,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the equations of motion: proofs, known motions, energy, inertias. Exit status 1 when
    a check fails.

    Example: linkwright verify elbow
    """
    from ..verification import verify as checked

    mechanism = read(file, base, closure)
    with working(f"verifying {mechanism.name}"):
        report = checked(mechanism, by=by.split(",") if by else None)
    emit_json(report.as_dict()) if as_json else print(report)
    if not report.passed:
        raise CheckFailedError(f"failed: {', '.join(report.failed)}", where=report.mechanism)


@app.command()
def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER", help="A mechanism's file or gallery name; or a folder of texts."
        ),
    ],
    equations: Annotated[
        str | None,
        typer.Argument(metavar="[EQUATIONS]", help="A file with equations, text or LaTeX."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="Check a folder of texts (.txt, .tex, .md) against this mechanism.",
            show_default=False,
        ),
    ] = None,
    solution: Annotated[
        str | None,
        typer.Option(help="With --mechanism: the equations asked for.", show_default=False),
    ] = None,
    names: Annotated[
        str, typer.Option(help="Which of their symbols is which of ours: theta1=q1,theta2=q2.")
    ] = "",
    csv: Annotated[
        Path | None, typer.Option(help="With --mechanism: a file for the table of marks.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --mechanism: a page (.html) with all verdicts."),
    ] = None,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check equations that people wrote: identical (proved), or what is wrong with them. With
    --mechanism, check every text of a folder and print a table of marks.

    Examples: linkwright check elbow equations.tex --names theta1=q1,theta2=q2

    linkwright check homework --mechanism elbow --solution solution.txt -o marks.html
    """
    from .check import read_names, run
    from .homework import check_words, mark_folder

    folder_options = {"--solution": solution, "--csv": csv, "--output": output}
    if check_words(file, equations, mechanism, folder_options):
        arm = read(mechanism or "", base, closure)
        mark_folder(arm, file, solution, read_names(names), csv, output, as_json)
    else:
        run(read(file, base, closure), equations or "", names, as_json)


@app.command()
def evaluate(
    file: FileArgument,
    quantity: Annotated[str, typer.Argument(help="inverse_dynamics, mass_matrix, placement, …")],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[q=…] [qd=…] …", help="Inputs, numbers separated by commas."),
    ] = None,
    states: Annotated[
        Path | None, typer.Option(help="A CSV or NPZ file of states instead of values.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A CSV or NPZ file for the results.")
    ] = None,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Evaluate a quantity for one state, or for a file of states.

    Examples: linkwright evaluate elbow inverse_dynamics q=0,90deg qd=0,0 qdd=1,1

    linkwright evaluate elbow placement q=0,0 frame=tool

    linkwright evaluate elbow forward_dynamics --states states.csv -o results.csv
    """
    from .evaluate import run

    run(read(file, base, closure), quantity, values or [], states, output, as_json)


@app.command()
def assemble(
    file: FileArgument,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[q1=…] …", help="Rough values of coordinates."),
    ] = None,
    hold: Annotated[
        str, typer.Option(help="Coordinates that keep their values, separated by commas.")
    ] = "",
    ranges: Annotated[
        list[str] | None, typer.Option("--range", help="Asks for a branch: q3=0:180deg.")
    ] = None,
    time: Annotated[float, typer.Option("--time", "-t", help="Of constraints in time, s.")] = 0.0,
    every: Annotated[bool, typer.Option("--all", help="All branches that are found.")] = False,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Close the loops and constraints of a mechanism, and say what is free then.

    Example: linkwright assemble four-bar theta1=60deg --hold theta1 --all
    """
    from .assemble import run

    held = hold.split(",") if hold else []
    run(read(file, base, closure), values or [], held, ranges or [], time, every, as_json)


@app.command()
def export(
    file: FileArgument,
    to: Annotated[str, typer.Option(help="toml or urdf.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; standard output if not given.")
    ] = None,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a mechanism in another format; what that cannot hold is named on stderr.

    Example: linkwright export robot.urdf --to toml -o robot.toml
    """
    from ..files import check_target, write
    from .show import write_file

    if output is not None:
        check_target(output, to)
    text, lost = write(read(file, base, closure), to)
    for what in lost:
        print(f"linkwright: not in the {to}: {what}", file=sys.stderr)
    if output is not None:
        write_file(output, text)
    if as_json:
        emit_json({"text": None if output else text, "file": str(output or ""), "lost": lost})
    elif output is None:
        print(text, end="")


@app.command()
def schema(
    as_json: Annotated[bool, typer.Option("--json", help="The schema is JSON anyway.")] = False,
) -> None:
    """Print the JSON schema of the TOML format, with which editors complete and check it.

    Example: linkwright schema > linkwright.schema.json
    """
    from ..files.toml import NOT_IN_FILES
    from ..mechanism import Mechanism

    found = Mechanism.model_json_schema()
    for key in NOT_IN_FILES:
        found["properties"].pop(key)
    emit_json({"$schema": "https://json-schema.org/draft/2020-12/schema", **found})
