"""Pictures of the command line: `linkwright draw`, and those of a simulated run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FileError, LinkwrightError
from ..expressions import parse, to_float
from ..mechanism import Mechanism, names_of
from .inputs import numbers
from .show import emit_json, working

if TYPE_CHECKING:
    from ..simulation import Run

PICTURES = (".svg", ".pdf", ".png")
VIEWS = ("xy", "xz", "yz", "space")
FILMS = (".mp4", ".gif", ".html")


@dataclass(frozen=True)
class Wanted:
    """Pictures of a run: histories by name and their file, a cyclograph, a film."""

    plot: str = ""
    plot_file: Path | None = None
    cyclograph: Path | None = None
    animate: Path | None = None
    pace: float = 1.0

    def check(self) -> None:
        """Refuses what cannot be written before anything is simulated."""
        for path, endings in (
            (self.plot_file, PICTURES), (self.cyclograph, PICTURES), (self.animate, FILMS),
        ):  # fmt: skip
            if path is not None and path.suffix.lower() not in endings:
                raise LinkwrightError(
                    f"'{path}' is no {', '.join(endings)}", remedy="name such a file"
                )
            check_folder(path)
        if not 0 < self.pace < 1e6 or (self.pace != 1 and self.animate is None):
            raise LinkwrightError(
                f"--pace {self.pace:g} is for no film",
                remedy="give --animate, and a pace above 0",
            )
        if any((self.plot, self.cyclograph, self.animate)):
            from ..show.style import house_style

            with house_style():  # says what is missing
                pass
        if self.plot:
            from ..show.histories import check_name

            for name in self.plot.split(","):
                check_name(name)

    def write(self, run: Run) -> list[str]:
        """Draws them; the names of the files."""
        if self.plot and self.plot_file is not None:
            run.plot(*self.plot.split(","), path=self.plot_file)
        if self.cyclograph is not None:
            run.cyclograph(path=self.cyclograph)
        if self.animate is not None:
            run.animate(self.animate, speed=self.pace)
        files = (self.plot_file, self.cyclograph, self.animate)
        return [str(path) for path in files if path is not None]


NOTHING = Wanted()


def check_folder(path: Path | None) -> None:
    """Refuses a file whose folder is missing."""
    if path is not None and not path.parent.is_dir():
        raise FileError("is no folder", where=str(path.parent), remedy="make it, or name another")


def wanted(
    plot: str,
    output: Path | None,
    cyclograph: Path | None,
    animate: Path | None,
    pace: float = 1.0,
) -> tuple[Wanted, Path | None]:
    """What is to be drawn, and the file of the run itself. Histories go to an output that is a
    picture; else beside it, as .svg."""
    is_picture = output is not None and output.suffix.lower() in PICTURES
    if not plot:
        if is_picture:
            raise LinkwrightError(
                f"'{output}' is a picture, but of what?", remedy="add --plot q,energy"
            )
        found = Wanted(cyclograph=cyclograph, animate=animate, pace=pace)
    elif output is None:
        raise LinkwrightError("--plot needs a file", remedy="add -o picture.svg, .pdf or .png")
    else:
        file = output if is_picture else output.with_suffix(".svg")
        found = Wanted(plot, file, cyclograph, animate, pace)
    found.check()
    check_folder(output)
    return found, None if is_picture else output


def draw(
    mechanism: Mechanism, words: list[str], what: str, output: Path, options: dict[str, Any],
    as_json: bool,
) -> None:  # fmt: skip
    """A configuration, or the structure, of a mechanism."""
    from .. import show

    values = numbers(mechanism, words)
    with working(f"drawing {mechanism.name}"):
        if what == "picture":
            q = _configuration(mechanism, values)
            show.figure_of(mechanism, q, path=output, **options)
        elif what in ("graph", "sparsity"):
            if values:
                raise LinkwrightError(f"the {what} has no coordinates", remedy="leave them out")
            (show.graph if what == "graph" else show.sparsity)(mechanism, path=output)
        else:
            raise LinkwrightError(
                f"'{what}' is nothing to draw", remedy="use picture, graph or sparsity"
            )
    emit_json({"file": str(output)}) if as_json else print(f"file: {output}")


def _configuration(mechanism: Mechanism, values: dict[str, float]) -> Any:
    """What is named is kept; loops and constraints close, the rest is at home."""
    from ..errors import NameNotFoundError, suggest
    from ..show.scene import scene_of

    names = names_of(mechanism)
    for name in values:
        if name not in names.q:
            raise NameNotFoundError(
                f"there is no coordinate '{name}'", remedy=suggest(name, list(names.q))
            )
    if names.constraints and values:
        from ..kinematics.assembly import assemble

        return assemble(mechanism, values, list(values))
    q = scene_of(mechanism).home.copy()
    for name, value in values.items():
        q[names.q.index(name)] = value
    return q


def view_of(text: str | None) -> str | tuple[float, float] | None:
    """xy, xz, yz, space; or azimuth and elevation in degrees: -60,20."""
    if text is None or text in VIEWS:
        return text
    parts = text.split(",")
    if len(parts) != 2:
        raise LinkwrightError(
            f"'{text}' is no view",
            remedy=f"use {', '.join(VIEWS)}, or azimuth and elevation in degrees: -30,40",
        )
    return to_float(parse(parts[0])), to_float(parse(parts[1]))
