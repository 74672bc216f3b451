"""The style of all figures: small plain type, colours that everybody can tell apart, vector
files."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from ..errors import FileError, LinkwrightError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Color: TypeAlias = str | Sequence[float]
"""A colour of matplotlib: its name, or its red, green, blue (and opacity) from 0 to 1."""

COLUMN_WIDTH = 85.0
"""Width of a journal's column, mm."""

LINE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
"""Okabe and Ito's, that colour-blind people tell apart; without their yellow, too faint a line."""

DASH_PATTERNS = ("-", "--", "-.", ":")
INK_COLOR, GRAY_COLOR, FAINT_COLOR = "#202020", "#8A8A8A", "#DDDDDD"
FIGURE_FORMATS = (".svg", ".pdf", ".png")

_MATPLOTLIB_SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7.5,
    "mathtext.fontset": "dejavusans",
    "axes.labelsize": 7.5,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.1,
    "patch.linewidth": 0.8,
    "grid.linewidth": 0.4,
    "grid.color": FAINT_COLOR,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.edgecolor": INK_COLOR,
    "axes.labelcolor": INK_COLOR,
    "text.color": INK_COLOR,
    "xtick.color": INK_COLOR,
    "ytick.color": INK_COLOR,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 0.9,
    "legend.handletextpad": 0.4,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "axes.unicode_minus": True,
    "figure.dpi": 100,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "linkwright",
    "hatch.linewidth": 0.5,
}

_DEFAULT_LABEL_WIDTH = 14.5
"""Width of labels and ticks beside a panel, mm, unless it is measured."""
_FIGURE_RIM = 1.1
"""Free along the edges of a picture, mm."""

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def house_figure_style() -> Iterator[None]:
    """Applies the style to whatever is drawn inside; the user's matplotlib settings stay as they
    are."""
    import matplotlib

    with matplotlib.rc_context(_MATPLOTLIB_SETTINGS):
        yield


def with_figure_style(draw: Callable[P, T]) -> Callable[P, T]:
    """The same drawing function, run in the house style."""

    @wraps(draw)
    def drawn(*args: P.args, **keywords: P.kwargs) -> T:
        with house_figure_style():
            return draw(*args, **keywords)

    return drawn


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of a width and height in mm, which notebooks display."""
    from .notebook import NotebookFigure

    if not (10 <= width <= 2000 and 10 <= height <= 4000):
        raise LinkwrightError(
            f"a picture cannot be {width:g} by {height:g} mm",
            remedy="give a width from 10 to 2000 mm",
        )
    return NotebookFigure(figsize=(width / 25.4, height / 25.4), layout="constrained")


def line_color(k: int) -> str:
    """The colour of line k; colours repeat after the last one."""
    return LINE_COLORS[k % len(LINE_COLORS)]


def dash_pattern(k: int) -> str:
    """The dash pattern of line k: another one each time that the colours repeat."""
    return DASH_PATTERNS[k // len(LINE_COLORS) % len(DASH_PATTERNS)]


def draw_legend(
    axes: Axes,
    lines: Sequence[Line2D] | None = None,
    width: float | None = None,
    beside: float | None = None,
) -> None:
    """Draws the legend above a panel, row by row, in as many columns as fit the width, mm.

    The width is that of the figure, or `width`; `beside` is what axis labels take of it.
    """
    every = axes.get_lines() if lines is None else lines
    shown = [line for line in every if not str(line.get_label()).startswith("_")]
    if not shown:
        return
    labels = [str(line.get_label()) for line in shown]
    columns = legend_columns(labels, width or 25.4 * axes.figure.get_figwidth(), beside)
    ordered = [line for k in range(columns) for line in shown[k::columns]]
    axes.legend(
        handles=ordered,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        borderaxespad=0.1,
    )


def legend_columns(labels: Sequence[str], width: float, beside: float | None = None) -> int:
    """The number of columns in which labels fit over a panel of a width, mm, less what is beside
    the axes; rows are as even as possible."""
    widths, room = (
        [_legend_entry_width(label) for label in labels],
        width - (beside or _DEFAULT_LABEL_WIDTH),
    )

    def fits(columns: int) -> bool:
        return sum(max(widths[k::columns]) for k in range(columns)) <= room

    most = next((c for c in range(len(labels), 1, -1) if fits(c)), 1)
    even = -(-len(labels) // -(-len(labels) // most))
    return even if fits(even) else most


def axis_label_width(several: Sequence[Axes]) -> float:
    """The width of the widest axis labels and ticks to the left of axes, with the margins, mm."""
    widest = 0.0
    for axes in several:
        box = axes.yaxis.get_tightbbox()
        widest = max(widest, float(axes.bbox.x0 - box.x0) if box is not None else 0.0)
    return 25.4 * widest / float(several[0].figure.dpi) + 2 * _FIGURE_RIM


def label_text_width(text: str, size: float) -> float:
    """The width of a text in a font size in points, mm."""
    from matplotlib import rcParams

    fonts = (rcParams[key] for key in ("font.family", "font.sans-serif", "font.serif"))
    look = tuple(name for names in fonts for name in names)
    return _label_width_in_ems(text, look, rcParams["mathtext.fontset"]) * size * 25.4 / 72


@lru_cache(maxsize=4096)
def _label_width_in_ems(text: str, fonts: tuple[str, ...], mathematics: str) -> float:
    """The width of a text relative to the font size.

    The fonts are only the key of the cache: tracing outlines takes long, and layouts ask for the
    same texts at many sizes.
    """
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=100.0).get_extents().x1) / 100.0


def _legend_entry_width(label: str) -> float:
    """The width of a legend entry, its line, label and gap, mm."""
    from matplotlib import rcParams

    size, parts = (
        float(rcParams["legend.fontsize"]),
        ("handlelength", "handletextpad", "columnspacing"),
    )
    ems = sum(rcParams[f"legend.{part}"] for part in parts)
    return float(ems * size) * 25.4 / 72 + label_text_width(label, size)


@with_figure_style
def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as .svg, .pdf or .png; a failure leaves no partial file.

    Parameters
    ----------
    figure : Figure
        A matplotlib figure.
    path : str or Path
        The ending decides the format.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import linkwright as lw
    >>> figure = lw.show.figure_of(lw.gallery("elbow"))
    >>> with TemporaryDirectory() as folder:
    ...     lw.show.save(figure, f"{folder}/elbow.svg").name
    'elbow.svg'
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in FIGURE_FORMATS:
        raise FileError(
            f"'{target.suffix}' is not a format for pictures",
            where=str(target),
            remedy=f"use {', '.join(FIGURE_FORMATS)}",
        )
    write_figure_file(target, figure_bytes(figure, kind[1:]))
    return target


def draws_figure(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """The same drawing function in the common figure style; the figure is saved in the file given
    by the argument `path`, which the function itself does not use."""
    arguments_of = signature(draw).bind

    @wraps(draw)
    def draw_and_save(*args: P.args, **keywords: P.kwargs) -> Figure:
        with house_figure_style():
            figure = draw(*args, **keywords)
        path = arguments_of(*args, **keywords).arguments.get("path")
        if path is not None:
            save(figure, path)
        return figure

    return draw_and_save


@with_figure_style
def figure_bytes(figure: Figure, kind: str) -> bytes:
    """The content of a file of a figure: svg, pdf or png."""
    stream = io.BytesIO()
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    figure.savefig(stream, format=kind, metadata=metadata)
    return stream.getvalue()


def write_figure_file(target: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        partial.replace(target)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    finally:
        partial.unlink(missing_ok=True)


@with_figure_style
def svg(figure: Figure) -> str:
    """Return a figure as an <svg> element for a web page.

    Parameters
    ----------
    figure : Figure
        A matplotlib figure.

    Returns
    -------
    str
        SVG.

    Examples
    --------
    >>> import linkwright as lw
    >>> figure = lw.show.figure_of(lw.gallery("elbow"))
    >>> lw.show.svg(figure).startswith("<svg")
    True
    """
    text = figure_bytes(figure, "svg").decode()
    return text[text.index("<svg") :]


@with_figure_style
def data_uri(figure: Figure) -> str:
    """Return a figure as the address of an <img> element, with all of its content.

    Parameters
    ----------
    figure : Figure
        A matplotlib figure.

    Returns
    -------
    str
        A data URI.

    Examples
    --------
    >>> import linkwright as lw
    >>> figure = lw.show.figure_of(lw.gallery("elbow"))
    >>> lw.show.data_uri(figure).startswith("data:image/")
    True
    """
    return "data:image/svg+xml;base64," + base64.b64encode(figure_bytes(figure, "svg")).decode()
