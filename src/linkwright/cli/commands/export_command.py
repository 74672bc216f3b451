"""`linkwright export`: a mechanism in another format, or its functions as source code."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import FileError
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, print_console_table

if TYPE_CHECKING:
    from ...writers import CodeSize, ExportedFiles


@register_command("Mechanisms")
def export(
    mechanism: options.MechanismFile,
    *,
    to: str,
    output: Annotated[Path | None, options.OUTPUT_OPTION] = None,
    quantities: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION
    ] = None,
    by: str | None = None,
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION
    ] = None,
    precision: str | None = None,
    sizes: bool = False,
    without: Annotated[list[str] | None, typer.Option(metavar="NAME")] = None,
) -> CommandOutcome:
    """Write a mechanism in another format, or its functions as source code.

    Properties that a format cannot hold are listed on stderr.

    Parameters
    ----------
    to
        A file format (toml, urdf, mjcf), a language (c, cpp, cuda, casadi, numpy, matlab, rust,
        latex), wasm (WebAssembly for JavaScript), or fmu (FMI 3.0) and fmu2 (FMI 2.0).
    output
        File to write (default: standard output), or folder of a target with several files.
    quantities
        Functions to write as code, those of frames as placement:tool; default: inverse_dynamics,
        forward_dynamics, mass_matrix, bias.
    by
        The formulation that derives them; default: recursive.
    parameters
        Parameters that stay inputs of the functions; the others are written as numbers.
    precision
        double (default) or float, for languages with both.
    sizes
        Also print operations, code bytes and stack bytes of C, on this machine and on Cortex-M.
    without
        Leave this out of the mechanism: friction, contacts, limits, …

    Examples
    --------
    linkwright export robot.urdf --to toml -o robot.toml
    linkwright export elbow --to c -o elbow_c --quantities inverse_dynamics,placement:tool
    linkwright export six-axis --to c -o arm_c --precision float --sizes
    linkwright export elbow --to rust --parameters m2 --precision float -o elbow.rs
    linkwright export stick-slip --to fmu --without friction -o sliding.fmu
    """
    from ... import writers

    mechanism = mechanism.without(*without) if without else mechanism
    found = writers.export(
        mechanism, to=to, quantities=quantities, by=by, parameters=parameters, precision=precision
    )
    measured = writers.measure_code_sizes(found) if sizes else []
    written = _save_export(found, output)
    text = None if written else next(iter(found.files.values()))
    return CommandOutcome(
        {
            "text": text,
            "file": str(output or ""),
            "files": [str(path) for path in written],
            "lost": list(found.lost),
            "sizes": [asdict(size) for size in measured],
        },
        lambda: _show_export(found.usage if text is None else text, measured),
        warnings=[f"not in the {to}: {what}" for what in found.lost],
    )


def _show_export(text: str | bytes, sizes: list[CodeSize]) -> None:
    """Print the text or how files are used, then a table of sizes."""
    print(text, end="")
    if sizes:
        rows = [list(asdict(one).values()) for one in sizes]
        head = ("function", "processor", "operations", "code bytes", "stack bytes")
        print_console_table(head, rows)


def _save_export(found: ExportedFiles, output: Path | None) -> list[Path]:
    """Write the files if there is a place for them; several files and bytes need one."""
    if output is not None:
        return found.save(output)
    if found.is_folder:
        raise FileError(
            f"--to {found.target} writes {len(found.files)} files", remedy="name a folder with -o"
        )
    if isinstance(next(iter(found.files.values())), bytes):
        raise FileError(f"--to {found.target} writes a binary file", remedy="name it with -o")
    return []
