"""Panels of a figure: lines that share a unit, chosen, coloured and converted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import NameNotFoundError, suggest_remedy
from ..types import Floats

ANGLE_UNIT, LENGTH_UNIT, NUMBER_UNIT = "rad", "m", "1"


@dataclass(frozen=True)
class HistoryLine:
    """One line of a panel: `name`, its `label`, its `values` (n,) over time.

    `dashed` is its style; `order` is the number of its colour (default: its place in the panel).

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> lw.show.HistoryLine("q1", "q1", np.zeros(2)).dashed
    False
    """

    name: str
    label: str
    values: Floats
    dashed: bool = False
    order: int | None = None
    """The number of its colour; default: its place in the panel."""


@dataclass(frozen=True)
class Panel:
    """Lines on one pair of axes: the `quantity`, its `unit` and the `lines`.

    Values far below `scale` are rounding errors; `note` follows the names of the lines.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> panel = lw.show.Panel("angle", "rad", (lw.show.HistoryLine("q1", "q1", np.ones(2)),))
    >>> panel.quantity, [line.name for line in panel.lines]
    ('angle', ['q1'])
    """

    quantity: str
    unit: str
    lines: tuple[HistoryLine, ...]
    scale: float = 0.0
    """The size that its values come from: they are rounding errors where they are far below it."""
    note: str = ""
    """The note after the names of the lines."""

    @property
    def legend_labels(self) -> list[str]:
        """Labels over the panel: the names of its lines, and the note."""
        return [*(line.label for line in self.lines), *([self.note] if self.note else [])]


def apply_panel_options(found: list[Panel], degrees: bool, only: Sequence[str]) -> list[Panel]:
    """The panels in degrees if asked for, and with the lines named in `only`, if any."""
    found = [_panel_in_degrees(panel) for panel in found] if degrees else found
    return select_panel_lines(found, only) if only else found


def select_panel_lines(found: list[Panel], only: Sequence[str]) -> list[Panel]:
    """The panels with only the named lines, which keep their colours; empty panels are left out."""
    known = list(dict.fromkeys(line.name for panel in found for line in panel.lines))
    for name in only:
        if name not in known:
            raise NameNotFoundError(f"unknown line '{name}'", remedy=suggest_remedy(name, known))
    found = [replace(p, lines=_fix_line_colors(p.lines)) for p in found]
    kept = [replace(p, lines=tuple(line for line in p.lines if line.name in only)) for p in found]
    return [panel for panel in kept if panel.lines]


def _fix_line_colors(lines: Sequence[HistoryLine]) -> tuple[HistoryLine, ...]:
    """Lines that keep their colours when others are left out."""
    return tuple(
        line if line.order is not None else replace(line, order=k) for k, line in enumerate(lines)
    )


def _panel_in_degrees(panel: Panel) -> Panel:
    """A panel of angles or their rates in degrees; others as they are."""
    if not panel.unit.startswith(ANGLE_UNIT):
        return panel
    turned = tuple(replace(line, values=np.degrees(line.values)) for line in panel.lines)
    return replace(panel, unit=panel.unit.replace(ANGLE_UNIT, "°", 1), lines=turned)


def figure_panels_by_unit(
    names: Sequence[str],
    labels: Sequence[str],
    units: Sequence[str],
    values: Floats,
    words: dict[str, tuple[str, str]],
) -> list[Panel]:
    """A panel for each unit of values (times, n); `words` maps a unit to its quantity and its
    label."""
    found = []
    for unit, (quantity, written) in words.items():
        lines = tuple(
            HistoryLine(names[k], labels[k], values[:, k], order=k)
            for k, own in enumerate(units)
            if own == unit
        )
        if lines:
            found.append(Panel(quantity, written, lines))
    return found
