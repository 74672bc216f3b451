"""The checker's findings, equation by equation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from ..displays import NotebookDisplayed, NotebookTable
from ..expressions.tokens import shorten_expression_text

IDENTICAL, EQUIVALENT, DIFFERS = "identical", "equivalent", "differs"
UNDECIDED, UNREADABLE, DEFINITION = "undecided", "unreadable", "definition"


@dataclass(frozen=True)
class Repair:
    """A single misprint whose correction makes the equation right.

    Attributes
    ----------
    kind : str
        The kind of misprint: "sign", "index", "factor", …
    what : str
        What is changed, as the end of a sentence.
    equation : str
        The right equation.
    """

    kind: str
    what: str
    equation: str

    def __str__(self) -> str:
        return self.what


@dataclass(frozen=True, repr=False)
class Finding(NotebookDisplayed):
    """The verdict on one equation.

    Attributes
    ----------
    number : str
        The number of the equation, its own or in order.
    equation : str
        The equation as it was read.
    status : str
        "identical"; "equivalent" (an energy up to a constant, a Lagrangian up to a total
        derivative, C with the same C q̇); "differs"; "undecided"; "unreadable"; or "definition"
        (a name of the text's own).
    chance : float
        A bound on the probability that identical or equivalent is wrong; differs is certain.
    under : str
        The condition under which the equation holds.
    note : str
        Why an equation is equivalent, undecided or unreadable.
    difference : str
        Left − right.
    repairs : tuple of Repair
        At most three, the likeliest first.
    is_said_wrong : bool
        Whether the text itself says, by `!`, that the equation is wrong.
    section : str
        The heading above the equation.
    inferred_names : dict
        Symbols of the equation whose meanings were neither given nor known but inferred, as symbols
        of the mechanism; rates follow their coordinates.

    Examples
    --------
    >>> import linkwright as lw
    >>> (finding,) = lw.check(lw.gallery("elbow"), "M22 = m2*lc2^2 - I2").findings
    >>> finding.status, finding.difference
    ('differs', '2*I2')
    """

    number: str
    equation: str
    status: str
    chance: float = 0.0
    under: str = ""
    note: str = ""
    difference: str = ""
    repairs: tuple[Repair, ...] = ()
    is_said_wrong: bool = False
    section: str = ""
    inferred_names: dict[str, str] = field(default_factory=dict, hash=False)

    def summary(self) -> str:
        """Return the number of the equation and its verdict."""
        return f"({self.number}) {self.status}: {self.equation}"

    @property
    def is_right(self) -> bool:
        """Whether it is what it is said to be: right, or, with `!` before it, wrong."""
        if self.status == DEFINITION:
            return True
        if self.is_said_wrong:
            return self.status == DIFFERS
        return self.status in (IDENTICAL, EQUIVALENT)

    def inferred_names_text(self) -> str:
        """Return how symbols without a given meaning were read: "q1 read as q2"."""
        readings = [f"{theirs} read as {ours}" for theirs, ours in self.inferred_names.items()]
        return " and ".join([", ".join(readings[:-1]), readings[-1]] if readings[1:] else readings)

    def sentence(self) -> str:
        """Return the verdict with its condition, then notes, the difference, and repairs."""
        text = self.status
        if self.status in (IDENTICAL, EQUIVALENT):
            text += f" where {shorten_expression_text(self.under, 90)}" if self.under else ""
        elif self.status == DEFINITION:
            text = "taken as a definition"
        text += f" with {readings}" if (readings := self.inferred_names_text()) else ""
        if self.status in (IDENTICAL, EQUIVALENT):
            text += f", proved ({proof_error_chance_text(self.chance)})"
        text += f"; {self.note}" if self.note else ""
        text += f"; left - right = {self.difference}" if self.difference else ""
        for i, repair in enumerate(self.repairs):
            text += (
                f"; {'or ' if i else f'equation {self.number} becomes right '}when {repair.what}"
            )
        return text


def proof_error_chance_text(chance: float) -> str:
    """A bound on the probability that a proof is wrong, in words."""
    if chance <= 0:
        return "certain"
    return f"wrong with probability below 2^{math.ceil(math.log2(chance))}"


@dataclass(frozen=True, repr=False)
class CheckReport(NotebookDisplayed):
    """The verdicts on all equations of a text.

    Attributes
    ----------
    mechanism : str
        The name of the mechanism.
    findings : tuple of Finding
        A verdict for each equation; `report[0]` is the first.
    names : dict
        The meanings of the symbols of the equations, as symbols of the mechanism.
    note : str
        Statements about the equations together.

    Examples
    --------
    >>> import linkwright as lw
    >>> report = lw.check(lw.gallery("elbow"), "phi2 = m2*lc2*g*cos(q1 + q2)")
    >>> report.passed, len(report.findings)
    (True, 1)
    """

    mechanism: str
    findings: tuple[Finding, ...]
    names: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def summary(self) -> str:
        """Return one line: how many equations are right."""
        right = sum(finding.is_right for finding in self.findings)
        return f"Report on {self.mechanism}: {right} of {len(self.findings)} equations right"

    @property
    def passed(self) -> bool:
        """True where all equations are right, and there is one beside definitions."""
        judged = [finding for finding in self.findings if finding.status != DEFINITION]
        return bool(judged) and all(finding.is_right for finding in judged)

    def __bool__(self) -> bool:
        return self.passed

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, index: int) -> Finding:
        return self.findings[index]

    def __str__(self) -> str:
        rows = [f"({x.number}) {x.equation}\n    {x.sentence()}" for x in self.findings]
        return "\n".join([*rows, *self._remarks()])

    def _remarks(self) -> list[str]:
        """The meanings of their symbols, and the note on all equations."""
        meanings = ", ".join(f"{theirs} is {ours}" for theirs, ours in self.names.items())
        return [text for text in (f"names: {meanings}" if meanings else "", self.note) if text]

    def notebook_table(self) -> NotebookTable:
        """Return the equations with their verdicts, for a notebook."""
        rows = [(one.number, one.equation, one.sentence()) for one in self.findings]
        return NotebookTable(("number", "equation", "verdict"), rows, self._remarks())

    def as_json(self) -> dict[str, object]:
        """Return the report as plain data for a JSON file.

        Returns
        -------
        dict
            The fields, and "passed".
        """
        found = asdict(self)
        return {"passed": self.passed, **found}
