"""`check_folder`: many people's equations at once, against one mechanism and a model solution."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed
from ..errors import (
    ExpressionError,
    FileError,
    LinkwrightError,
    NameNotFoundError,
    suggest_remedy,
)
from ..expressions import expression_text
from ..mechanism import Mechanism
from .check_report import (
    DEFINITION,
    DIFFERS,
    EQUIVALENT,
    IDENTICAL,
    UNDECIDED,
    UNREADABLE,
    CheckReport,
    Finding,
)
from .checker import check_with_vocabularies
from .claims import RIGHT_VERDICTS, ClaimSet, collect_claims
from .declarations import separate_declarations
from .homework_files import find_homework_texts, read_homework_document
from .solution_presence import CLAIM_MISSING, CLAIM_PRESENT, compare_with_solution
from .statement_reader import Statement, read_statements
from .vocabulary import CheckerVocabulary

MARK_COLUMNS = (
    "name", "mark", "equations", "identical", "equivalent", "wrong", "with_repair", "undecided",
    "unreadable", "present", "missing", "remark",
)  # fmt: skip

ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, repr=False)
class Marks(NotebookDisplayed):
    """The marks of one text: which equations are right.

    Attributes
    ----------
    name : str
        The path of the text within the folder.
    report : CheckReport or None
        The verdict on each equation; None where the text could not be read.
    problem : str
        Why it could not be read.
    lines : tuple of str
        The text's own line for each finding, in the same order.
    solution : tuple of str
        "present", "wrong" or "missing" for each equation of the model solution.
    missing : tuple of str
        Equations of the solution that the text neither has nor attempts.
    """

    name: str
    report: CheckReport | None = None
    problem: str = ""
    lines: tuple[str, ...] = ()
    solution: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return the text, and how many of its equations are right."""
        right = sum(finding.is_right for finding in self.claims)
        verdict = self.problem or f"{right} of {len(self.claims)} equations right"
        return f"Marks of {self.name}: {verdict}"

    @property
    def claims(self) -> tuple[Finding, ...]:
        """The findings that count: no definitions, and no lines that the text calls wrong."""
        found = self.report.findings if self.report is not None else ()
        return tuple(x for x in found if x.status != DEFINITION and not x.is_said_wrong)

    def count(self, *statuses: str) -> int:
        """Return the number of equations with one of these verdicts, the `statuses`."""
        return sum(finding.status in statuses for finding in self.claims)

    @property
    def right(self) -> int:
        """The number of equations that are identical or equivalent."""
        return self.count(*RIGHT_VERDICTS)

    @property
    def wrong(self) -> int:
        """The number of equations that differ."""
        return self.count(DIFFERS)

    @property
    def with_repair(self) -> int:
        """The number of wrong equations that a single misprint explains."""
        return sum(x.status == DIFFERS and bool(x.repairs) for x in self.claims)

    @property
    def present(self) -> int | None:
        """The number of equations of the solution that follow from the text's right ones."""
        return self.solution.count(CLAIM_PRESENT) if self.solution else None

    @property
    def mark(self) -> float:
        """The share of what was asked for that is right, from 0 to 1.

        With a model solution it is present / (present + missing + wrong + undecided + unreadable),
        so that further right equations earn nothing; without one it is the share of right
        equations. A text that could not be read has 0.
        """
        earned = self.right if self.present is None else self.present
        lost = self.count(DIFFERS, UNDECIDED, UNREADABLE) + len(self.missing)
        return earned / (earned + lost) if earned else 0.0

    @property
    def passed(self) -> bool:
        """Whether all equations are right, and none is missing."""
        return bool(self.claims) and self.right == len(self.claims) and not self.missing

    @property
    def remark(self) -> str:
        """The reason why no report exists; else what the right equations determine."""
        return self.problem or (self.report.note if self.report is not None else "")

    def row(self) -> dict[str, object]:
        """Return one row of the table of marks; `present` is None without a solution."""
        numbers = (
            self.name,
            round(self.mark, 4),
            len(self.claims),
            self.count(IDENTICAL),
            self.count(EQUIVALENT),
            self.wrong,
            self.with_repair,
            self.count(UNDECIDED),
            self.count(UNREADABLE),
            self.present,
            len(self.missing),
            self.remark,
        )
        return dict(zip(MARK_COLUMNS, numbers, strict=True))


@dataclass(frozen=True, repr=False)
class Homework(NotebookDisplayed):
    """The marks of all texts of a folder, printed as a table.

    `mechanism` is the name of the mechanism, with `coordinates`. `folder` is the folder, `texts`
    are the marks of its texts, and `skipped` the files with another ending. `solution` are the
    equations that are asked for.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import linkwright as lw
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "anna.txt").write_text("phi2 = m2*lc2*g*cos(q1 + q2)")
    ...     marks = lw.check_folder(lw.gallery("elbow"), folder)
    >>> marks["anna.txt"].mark, marks.passed
    (1.0, True)
    """

    mechanism: str
    folder: str
    texts: tuple[Marks, ...]
    solution: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line: the mechanism, and the number of texts that were marked."""
        return f"Homework on {self.mechanism}: {len(self.texts)} texts of {self.folder}"

    @property
    def passed(self) -> bool:
        """Whether all equations of all texts are right and none of the solution is missing."""
        return all(text.passed for text in self.texts)

    def __bool__(self) -> bool:
        return self.passed

    def __iter__(self) -> Iterator[Marks]:
        return iter(self.texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, name: str | int) -> Marks:
        """The marks of a text by its name, or by its place."""
        if isinstance(name, int):
            return self.texts[name]
        texts = {text.name: text for text in self.texts}
        if name not in texts:
            raise NameNotFoundError(
                f"unknown text '{name}'",
                where=self.folder,
                remedy=suggest_remedy(name, list(texts)),
            )
        return texts[name]

    def to_csv(self) -> str:
        """Return the table of marks as CSV for spreadsheets, which read no cell as a formula."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow(MARK_COLUMNS)
        for text in self.texts:
            cells = ("" if x is None else x for x in text.row().values())
            writer.writerow([escape_marks_cell(x) if isinstance(x, str) else x for x in cells])
        return out.getvalue()

    def to_html(self) -> str:
        """Return one HTML page that needs no other file: the table of marks, then every text."""
        page: str = find_convenience("Homework.to_html")(self)
        return page

    def as_json(self) -> dict[str, object]:
        """Return all marks as plain data, as `--json` prints them."""
        return {
            "passed": self.passed,
            "mechanism": self.mechanism,
            "folder": self.folder,
            "solution": list(self.solution),
            "skipped": list(self.skipped),
            "texts": [_marks_as_json(text) for text in self.texts],
        }


def _marks_as_json(text: Marks) -> dict[str, Any]:
    findings = text.report.findings if text.report is not None else ()
    lines = [*text.lines, *[""] * (len(findings) - len(text.lines))]
    found = [{"line": line, **asdict(x)} for x, line in zip(findings, lines, strict=True)]
    return {
        **text.row(),
        "passed": text.passed,
        "missing_equations": list(text.missing),
        "names": text.report.names if text.report is not None else {},
        "findings": found,
    }


def escape_marks_cell(text: str) -> str:
    """The text with a ' before it if a spreadsheet would take it for a formula."""
    is_formula = text.lstrip().startswith(("=", "+", "-", "@")) or text.startswith(("\t", "\r"))
    return f"'{text}" if is_formula else text


def check_folder(
    mechanism: Mechanism,
    folder: str | os.PathLike[str],
    *,
    solution: str | os.PathLike[str] | None = None,
    names: Mapping[str, str] | None = None,
    progress: ProgressCallback | None = None,
) -> Homework:
    """Check the equations of every text in a folder, for instance one per student.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that the equations describe.
    folder, solution : str or Path
        Texts (.txt, .tex, .md; hidden ones are left out); a file with the equations asked for.
    names, progress : mapping of str to str and callable, optional
        The meanings of symbols of the texts; a function that is called with the name of each text.

    Returns
    -------
    Homework
        A row for each text, with the reason if a text cannot be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import linkwright as lw
    >>> with TemporaryDirectory() as folder:  # one equation is right, one has a wrong sign
    ...     _ = Path(folder, "anna.txt").write_text("M22 = m2*lc2^2 + I2")
    ...     _ = Path(folder, "bob.txt").write_text("M22 = m2*lc2^2 - I2")
    ...     marks = lw.check_folder(lw.gallery("elbow"), folder)
    >>> [(text.name, text.mark) for text in marks]
    [('anna.txt', 1.0), ('bob.txt', 0.0)]
    """
    root = Path(folder)
    model = None if solution is None else Path(solution)
    paths, skipped = find_homework_texts(root, model)
    shared = {"": CheckerVocabulary(mechanism)}
    asked = ClaimSet(())
    if model is not None:
        asked = read_model_solution(shared, model, names)
    texts = []
    for path in paths:
        name = path.relative_to(root).as_posix()
        if progress is not None:
            progress(name)
        texts.append(mark_homework_text(shared, path, name, asked, names))
    equations = tuple(claim.finding.equation for claim in asked.claims)
    coordinates = tuple(shared[""].names.qd)
    return Homework(
        mechanism.name, str(folder), tuple(texts), equations, tuple(skipped), coordinates
    )


def read_model_solution(
    shared: dict[str, CheckerVocabulary], path: Path, names: Mapping[str, str] | None = None
) -> ClaimSet:
    """The equations of a model solution; each must be right."""
    vocabulary = shared[""]
    try:
        text = read_homework_document(path)
        report = check_with_vocabularies(shared, vocabulary.mechanism, text, names or {})
        own = separate_declarations(text, vocabulary.mechanism)[1]
    except LinkwrightError as error:
        raise error if error.where == str(path) else error.within(str(path)) from None
    claims = collect_claims(vocabulary, report, names, own)
    for finding in report:
        if finding.status in (DIFFERS, UNREADABLE) and not finding.is_said_wrong:
            raise FileError(
                f"equation {finding.number} of the solution is not right: {finding.sentence()}",
                where=str(path),
                remedy="correct the solution",
            )
    if not claims.claims:
        raise FileError("the solution has no equation", where=str(path))
    return claims


def mark_homework_text(
    shared: dict[str, CheckerVocabulary],
    path: Path,
    name: str,
    asked: ClaimSet,
    names: Mapping[str, str] | None = None,
) -> Marks:
    """The marks of one text; what is wrong with the file, if it cannot be read."""
    missing = tuple(claim.finding.equation for claim in asked.claims)
    lost = (CLAIM_MISSING,) * len(missing)
    mechanism = shared[""].mechanism
    try:
        text = read_homework_document(path)
        report = check_with_vocabularies(shared, mechanism, text, names or {})
        plain, own = separate_declarations(text, mechanism)
        found = compare_with_solution(asked, collect_claims(shared[""], report, names, own))
    except LinkwrightError as error:
        where = error.where if error.where != str(path) else ""
        problem = str(type(error)(error.what, where=where, remedy=error.remedy))
        return Marks(name, problem=problem, solution=lost, missing=missing)
    except Exception as error:  # our own mistake must not stop the other texts
        problem = f"the checker failed ({type(error).__name__}: {error}); please report this text"
        return Marks(name, problem=problem, solution=lost, missing=missing)
    left = tuple(x for x, verdict in zip(missing, found, strict=True) if verdict == CLAIM_MISSING)
    marks = Marks(name, report, "", lines_of_findings(plain, report), tuple(found), left)
    return marks if marks.claims else Marks(name, report, "has no equation", (), lost, missing)


def lines_of_findings(text: str, report: CheckReport) -> tuple[str, ...]:
    """The text's own line for each finding; empty where it cannot be told."""
    try:
        lines = read_statements(text)
    except ExpressionError:
        return ("",) * len(report)
    by_number: dict[str, set[str]] = {}
    for line in lines:
        by_number.setdefault(line.number, set()).add(" ".join(line.text.split()))
    by_equation = {
        f"{expression_text(x.left)} = {expression_text(x.right)}": " ".join(x.text.split())
        for x in lines
        if isinstance(x, Statement)
    }

    def find(finding: Finding) -> str:
        numbered = by_number.get(finding.number, set())
        only = next(iter(numbered)) if len(numbered) == 1 else ""
        return by_equation.get(finding.equation, only)

    return tuple(find(finding) for finding in report)
