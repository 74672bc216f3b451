"""Figures that notebooks display, without pyplot or a backend for notebooks."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

_SCREEN_DPI, _DOTS_PER_PIXEL = 144, 2
"""Pixels an inch on the screen, so that small type can be read; dots a pixel."""


class NotebookFigure(Figure):  # type: ignore[misc]
    """A matplotlib figure that a notebook displays as the value of a cell."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture and its size on the screen, in pixels."""
        from .figure_style import house_figure_style

        stream = io.BytesIO()
        with house_figure_style():
            self.savefig(stream, format="png", dpi=_SCREEN_DPI * _DOTS_PER_PIXEL)
        wide, high = (round(inches * _SCREEN_DPI) for inches in self.get_size_inches())
        return stream.getvalue(), {"width": wide, "height": high}
