"""Results of checks: verdict, figure, meaning, and the sentence to cite."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ..displays import NotebookDisplayed, NotebookTable

PROVED_VERDICT, PASSED_VERDICT, NOTED_VERDICT, SKIPPED_VERDICT, FAILED_VERDICT = (
    "proved",
    "passed",
    "noted",
    "skipped",
    "failed",
)


@dataclass(frozen=True, repr=False)
class Check(NotebookDisplayed):
    """The result of one check. `verdict`: proved (for all states and all values of the parameters),
    passed (in numbers), noted (no error, but worth knowing), skipped (does not apply) or failed;
    `failing` names what failed; `figure` is the number behind the verdict."""

    name: str
    verdict: str
    figure: str
    meaning: str
    cite: str = ""
    failing: tuple[str, ...] = ()

    def summary(self) -> str:
        """One line: verdict, name and figure."""
        return f"{self.verdict}: {self.name}{', ' * bool(self.figure)}{self.figure}"

    @property
    def passed(self) -> bool:
        """True unless the check failed."""
        return self.verdict != FAILED_VERDICT


@dataclass(frozen=True, repr=False)
class VerificationReport(NotebookDisplayed):
    """All checks of one mechanism or of one set of equations.

    Attributes
    ----------
    mechanism, by : str
        The name of the mechanism, and the formulation.
    checks : tuple of Check
        The checks; `report[name]` returns one.
    seconds : float
        The time that the checks took, s.

    Examples
    --------
    >>> import linkwright as lw
    >>> report = lw.verify(lw.gallery("elbow"), by=["lagrange"])
    >>> report["formulations agree"].passed
    True
    """

    mechanism: str
    by: str
    checks: tuple[Check, ...]
    seconds: float

    def summary(self) -> str:
        """Return one line: how many checks passed."""
        passed = f"{sum(check.passed for check in self.checks)} of {len(self.checks)} checks passed"
        return f"Report on {self.mechanism}, equations by {self.by}: {passed}"

    @property
    def passed(self) -> bool:
        """True where no check failed."""
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the checks that failed."""
        return tuple(check.name for check in self.checks if not check.passed)

    def notebook_table(self) -> NotebookTable:
        """Return the checks with their verdicts, for a notebook."""
        rows = [(one.verdict, one.name, one.figure, one.meaning) for one in self.checks]
        return NotebookTable(("verdict", "check", "figure", "meaning"), rows)

    def __getitem__(self, name: str) -> Check:
        return {check.name: check for check in self.checks}[name]

    def as_dict(self) -> dict[str, object]:
        """Return the report as plain data.

        Returns
        -------
        dict
            The fields, and "passed".
        """
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        width = max(len(check.name) for check in self.checks)
        lines = [f"{self.mechanism}, equations by {self.by}"]
        for check in self.checks:
            lines.append(f"{check.verdict:7}  {check.name.ljust(width)}  {check.figure}")
            if not check.passed:
                lines.append(f"{'':9}{'':{width}}  {check.meaning}")
        count = sum(not check.passed for check in self.checks)
        result = f"{count} of {len(self.checks)} checks failed" if count else "all checks passed"
        return "\n".join([*lines, f"{result} ({self.seconds:.1f} s)"])
