"""The equations of all formulations side by side: counts, matrices, and each in its own form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..conveniences import find_convenience
from ..errors import UnsupportedError
from ..forms import TypesetEquationSet, typeset_equation_set
from ..formulations import derive, formulation_names
from ..mechanism import Mechanism, require_mechanism
from .comparison_tables import ComparisonTable, SavableComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class EquationCountRow:
    """The size of the equations of one formulation.

    `by` is the formulation. `equations`, `unknowns` and `states` are numbers of them on paper.
    `matrices` lists the matrices of the linear systems that are solved, with their sizes.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.comparison.compare_equations(lw.gallery("elbow"), ["lagrange"])
    >>> row = found.records()[0]
    >>> row.by, row.equations, row.states
    ('lagrange', 2, 4)
    """

    by: str
    equations: int
    unknowns: int
    states: int
    matrices: str


@dataclass(frozen=True, repr=False)
class EquationComparison(SavableComparison):
    """The equations of several formulations, each in its own form.

    `mechanism` is the name of the mechanism, `forms` has the equations of each formulation, and
    `refused` the reason of each formulation that cannot treat the mechanism.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.comparison.compare_equations(lw.gallery("elbow"), ["lagrange", "hamilton"])
    >>> found.summary()
    'Equations of elbow by 2 formulations'
    """

    mechanism: str
    forms: tuple[TypesetEquationSet, ...]
    refused: dict[str, str]

    def summary(self) -> str:
        """Return one line: the mechanism and the number of formulations."""
        return f"Equations of {self.mechanism} by {len(self.forms)} formulations"

    def records(self) -> list[EquationCountRow]:
        """Return the counts of each formulation."""
        found = []
        for one in self.forms:
            counts = one.source.counts
            sizes = [
                f"{name.removeprefix('the matrix of the ')} {m}×{n}"
                for name, (m, n) in counts.matrices.items()
            ]
            found.append(
                EquationCountRow(
                    one.by, counts.equations, counts.unknowns, counts.states, ", ".join(sizes)
                )
            )
        return found

    def table(self) -> ComparisonTable:
        """Return equations, unknowns, states and matrices, a row for each formulation."""
        head = ("formulation", "equations", "unknowns", "states", "matrices")
        rows = [
            (row.by, str(row.equations), str(row.unknowns), str(row.states), row.matrices)
            for row in self.records()
        ]
        notes = tuple(
            f"{by}: cannot treat this mechanism, {why}" for by, why in self.refused.items()
        )
        return ComparisonTable(f"Equations of {self.mechanism}", head, tuple(rows), notes)

    def __str__(self) -> str:
        forms = (f"=== {one.by} ===\n{one.text().rstrip()}" for one in self.forms)
        return "\n\n".join([self.table().text(), *forms])

    def figure(self) -> Figure:
        """Return a figure of the counts and of the matrices, which are drawn to scale."""
        from .equation_figures import draw_equation_counts

        return draw_equation_counts(self)

    def to_html(self) -> str:
        """Return a page with the table, the figure, and all forms side by side."""
        page: str = find_convenience("EquationComparison.to_html")(self)
        return page

    def save(self, path: str | Path) -> None:
        """Save in the format that the ending of the file `path` names.

        .html is the page with all equations; .md and .csv are tables; .svg, .pdf and .png are
        figures of the counts.
        """
        from ..show.figure_style import write_figure_file

        if Path(path).suffix.lower() in (".html", ".htm"):
            write_figure_file(Path(path), self.to_html().encode())
        else:
            super().save(path)

    def json(self) -> dict[str, object]:
        """Return the counts and the sections of each formulation as plain data."""
        return {
            one.by: {
                "title": one.source.title,
                "equations": one.source.counts.equations,
                "unknowns": one.source.counts.unknowns,
                "states": one.source.counts.states,
                "matrices": {k: list(size) for k, size in one.source.counts.matrices.items()},
                "sections": [section.json() for section in one.sections],
            }
            for one in self.forms
        } | {"refused": self.refused}


def compare_equations(
    mechanism: Mechanism, by: str | Sequence[str] | None = None
) -> EquationComparison:
    """Compare the equations of a mechanism by several formulations, each in its own form.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    by : str or sequence of str, optional
        Formulations (default: all).

    Returns
    -------
    EquationComparison
        Printed as a table, followed by the equations; saved as a page (.html), too.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.comparison.compare_equations(lw.gallery("elbow"), ["lagrange", "hamilton"])
    >>> [row.states for row in found.records()]
    [4, 4]
    """
    require_mechanism(mechanism)
    names = formulation_names(by)
    forms, refused = [], {}
    for name in names:
        try:
            forms.append(typeset_equation_set(derive(mechanism, by=name)))
        except UnsupportedError as error:
            refused[name] = error.what.removeprefix(
                f"the formulation '{name}' cannot treat {mechanism.name}: "
            )
    return EquationComparison(mechanism.name, tuple(forms), refused)
