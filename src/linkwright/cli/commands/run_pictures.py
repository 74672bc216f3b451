"""Pictures of a motion: histories, a cyclograph, a film."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import LinkwrightError
from ..command_output import check_output_option
from ..options import PICTURE_ENDINGS

if TYPE_CHECKING:
    from ...simulation import Kinematics, Run

FILM_ENDINGS = (".mp4", ".gif", ".html")


@dataclass(frozen=True)
class RunPictureOptions:
    """Pictures to make of a run: histories by name and their file, a cyclograph, a film."""

    plot: Sequence[str] = ()
    plot_file: Path | None = None
    cyclograph: Path | None = None
    animate: Path | None = None
    pace: float = 1.0

    def check_files(self) -> None:
        """Refuses files that cannot be written and unknown histories before anything is
        simulated."""
        check_output_option(self.plot_file, *PICTURE_ENDINGS)
        check_output_option(self.cyclograph, *PICTURE_ENDINGS)
        check_output_option(self.animate, *FILM_ENDINGS)
        if not 0 < self.pace < 1e6 or (self.pace != 1 and self.animate is None):
            raise LinkwrightError(
                f"--pace {self.pace:g} needs a film",
                remedy="give --animate, and a pace above 0",
            )
        if any((self.plot, self.cyclograph, self.animate)):
            from ...show.figure_style import house_figure_style
            from ...show.histories import check_history_name

            with house_figure_style():  # an error if Matplotlib is missing
                pass
            for name in self.plot:
                check_history_name(name)

    def write_pictures(self, run: Run | Kinematics) -> list[str]:
        """Draws the pictures, and returns the names of their files."""
        if self.plot_file is not None:
            run.plot(*self.plot, path=self.plot_file)
        if self.cyclograph is not None:
            run.cyclograph(path=self.cyclograph)
        if self.animate is not None:
            run.animate(self.animate, speed=self.pace)
        files = (self.plot_file, self.cyclograph, self.animate)
        return [str(path) for path in files if path is not None]


def split_output_option(
    plot: Sequence[str], output: Path | None
) -> tuple[list[str], Path | None, Path | None]:
    """Return the names of histories, their file, and the file of the motion.

    A name that ends as a picture does is the file of the histories: q,tau,forces.svg. Otherwise
    they go to an output that is a picture, else to an .svg file beside it.
    """
    files = [Path(name) for name in plot if Path(name).suffix.lower() in PICTURE_ENDINGS]
    names = [name for name in plot if Path(name).suffix.lower() not in PICTURE_ENDINGS]
    is_picture = output is not None and output.suffix.lower() in PICTURE_ENDINGS
    if len(files) > 1 or (files and is_picture):
        raise LinkwrightError("--plot has two files", remedy="name one file")
    if files:
        return names, files[0], output
    if not plot:
        if is_picture:
            raise LinkwrightError(
                f"'{output}' is a picture file, and --plot is missing", remedy="add --plot q,energy"
            )
        return names, None, output
    if output is None:
        raise LinkwrightError("--plot needs a file", remedy="add -o picture.svg, .pdf or .png")
    if is_picture:
        return names, output, None
    return names, output.with_suffix(".svg"), output
