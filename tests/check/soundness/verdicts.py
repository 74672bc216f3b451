"""What the checker says of a case, against what the judge knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import linkwright as lw
from linkwright.checking.check_report import CheckReport, Finding, Repair
from linkwright.errors import LinkwrightError
from tests.references.equation_judge import (
    FALSE,
    HOLDS,
    UNKNOWN,
    Equation,
    NotationError,
    Var,
    judge,
    names_in,
    negate,
    parse_equation,
    rename,
    residual,
)
from tests.references.equation_notation import equation_text, to_text
from tests.references.reference_mechanics import Reference
from tests.references.reference_states import State, random_state
from tests.references.trig_polynomials import from_node

from .mutations import Mutant
from .spellings import Spelled
from .subjects import Subject

PROVED = ("identical", "equivalent")
ENERGIES = ("K", "T", "V", "P", "U", "L", "H", "E")
STATES = 2


@dataclass(frozen=True)
class Case:
    """An equation as it is given to the checker; `mutant` is None where it is true."""

    subject: Subject
    equation: Equation
    spelled: Spelled
    seed: str
    mutant: Mutant | None = None
    original: Equation | None = None
    steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = f"{self.mutant.kind}: {to_text(self.mutant.token)}" if self.mutant else "true"
        return (
            f"{self.subject.name} [{self.seed}] {what} ({self.spelled.kind}; {', '.join(self.steps)})\n"
            f"    {self.spelled.text}"
            + (f"\n    names={dict(self.spelled.names)}" if self.spelled.names else "")
            + (f"\n    was {equation_text(self.original)}" if self.original else "")
        )


@dataclass(frozen=True)
class Outcome:
    """`problem` is "" where all is well; `repair` is whether the misprint was named and mended."""

    case: Case
    status: str
    problem: str = ""
    said: str = ""
    repair: bool | None = None
    restored: bool | None = None

    def __str__(self) -> str:
        return f"{self.problem or 'fine'}: {self.case}\n    {self.status}: {self.said}"


@lru_cache(maxsize=4000)
def states_of(reference: Reference, bound: tuple[tuple[str, str | Fraction], ...]) -> list[State]:
    return [random_state(reference, f"state {i}", dict(bound)) for i in range(STATES)]


def generic_states(reference: Reference) -> list[State]:
    """All parameters random."""
    return states_of(reference, ())


def lenient_states(reference: Reference, used: set[str]) -> list[State]:
    """Parameters that a text does not name have their declared values, drives are zero.

    What is false here is false under every weaker condition that the checker may assume."""
    bound: dict[str, str | Fraction] = {
        name: said for name, said in reference.parameters.items() if name not in used
    }
    for name, symbol in reference.own.items():
        aliases = {x for x, s in reference.own.items() if s == symbol}
        if symbol in reference.drives and not aliases & used:
            bound[name] = Fraction(0)
    return states_of(reference, tuple(sorted(bound.items())))


def used_names(equation: Equation) -> set[str]:
    return names_in(equation[0]) | names_in(equation[1])


def is_false(equation: Equation, reference: Reference) -> bool:
    """Surely false, whatever may be assumed, or with a symbol that does not exist."""
    found = judge(equation, generic_states(reference))
    if found == UNKNOWN:
        return has_unknown_name(equation, reference)
    used = used_names(equation)
    if found == HOLDS or judge(equation, lenient_states(reference, used)) != FALSE:
        return False
    return not is_allowed_freedom(equation, reference)


def has_unknown_name(equation: Equation, reference: Reference) -> bool:
    for name in used_names(equation) - {"pi"}:
        try:
            reference.quantity(name)
        except (KeyError, ValueError):
            return True
    return False


def is_true(equation: Equation, reference: Reference) -> bool:
    """True for all parameters, or for the declared values of those that it does not name."""
    if judge(equation, generic_states(reference)) == HOLDS:
        return True
    return judge(equation, lenient_states(reference, used_names(equation))) == HOLDS


def is_allowed_freedom(equation: Equation, reference: Reference) -> bool:
    """Energies up to a constant, Lagrangians up to a total derivative."""
    sides = [side.name for side in equation if isinstance(side, Var)]
    energies = [x for x in sides if x.rstrip("0123456789") in ENERGIES and x not in reference.own]
    if not energies or has_unknown_name(equation, reference):
        return False
    anchored = [random_state(reference, f"anchored {i}", anchor="anchor") for i in range(3)]
    first, *others = (residual(equation, state) for state in anchored)
    if all((first - other).contains(0) for other in others):
        return True
    return "L" in energies and is_total_derivative(equation, reference)


def is_total_derivative(equation: Equation, reference: Reference) -> bool:
    """Whether Euler's and Lagrange's operator makes nothing of left − right."""
    try:
        apart = from_node(equation[0], reference.quantity) - from_node(
            equation[1], reference.quantity
        )
    except (LookupError, ValueError):
        return False
    return all(
        not (reference.rate(apart.derivative(u)) - apart.derivative(q))
        for q, u in zip(reference.coordinates, reference.u, strict=True)
    )


def conditions_of(text: str) -> dict[str, str]:
    """m1 = 2, tau1 = 0 as a mapping."""
    pairs = (part.partition(" = ") for part in text.split(", ") if " = " in part)
    return {name.strip(): value for name, _, value in pairs}


def is_true_under(equation: Equation, reference: Reference, under: str) -> bool:
    """Whether the equation holds where the checker says so."""
    bound: dict[str, str | Fraction] = {
        name: value for name, value in conditions_of(under).items() if name in reference.own
    }
    states = states_of(reference, tuple(sorted(bound.items())))
    return judge(equation, states) == HOLDS


# -- the checker's word ---------------------------------------------------------------------


def run_case(case: Case) -> Outcome:
    """One equation, alone."""
    return run_batch([case], case.spelled.names)[0]


def run_batch(cases: list[Case], names: Mapping[str, str] | None = None) -> list[Outcome]:
    """Several equations of one mechanism in one text."""
    text = (" \\\\\n" if all(x.spelled.kind == "LaTeX" for x in cases) else "\n").join(
        case.spelled.text for case in cases
    )
    try:
        report = lw.check(cases[0].subject.mechanism, text, names=names or None)
    except LinkwrightError as error:
        if len(cases) > 1:
            return [run_case(case) for case in cases]
        problem = "" if cases[0].mutant else "refused"
        return [Outcome(cases[0], "refused", problem, str(error))]
    except Exception as error:
        if len(cases) > 1:
            return [run_case(case) for case in cases]
        return [Outcome(cases[0], "crash", "crash", f"{type(error).__name__}: {error}"[:300])]
    if len(report) != len(cases):
        return [Outcome(case, "lost", "crash", f"{len(report)} findings for {len(cases)} equations") for case in cases]  # fmt: skip
    return [outcome(case, finding, report) for case, finding in zip(cases, report, strict=True)]


def outcome(case: Case, finding: Finding, report: CheckReport) -> Outcome:
    status, reference = finding.status, case.subject.reference
    said = finding.sentence() + (f" names: {report.names}" if report.names else "")
    problem = ""
    if status in PROVED and not case.mutant and not finding.under:
        return Outcome(case, status, "", said)
    if status in PROVED:
        named = conditions_of(finding.under).keys() & used_names(case.equation)
        if named:
            problem = "false proof" if case.mutant else "condition on what is named"
        elif not is_true_under(case.equation, reference, finding.under):
            problem = "" if is_allowed_freedom(case.equation, reference) else "false proof"
    elif status == "differs" and case.mutant is None:
        problem = "false alarm"
    elif status == "unreadable" and case.mutant is None:
        problem = "refused"
    if case.mutant is None or status != "differs":
        return Outcome(case, status, problem, said)
    return Outcome(case, status, problem, said, *judge_repair(case, finding))


def judge_repair(case: Case, finding: Finding) -> tuple[bool, bool]:
    """Whether a repair names the misprint and is true; whether it is the original.

    A second one counts too: of two terms with different signs, either may be the wrong one."""
    found = [repair_is_right(case, repair) for repair in finding.repairs[:2]]
    return any(named for named, _ in found), any(restored for _, restored in found)


def repair_is_right(case: Case, repair: Repair) -> tuple[bool, bool]:
    assert case.mutant is not None
    try:
        repaired = parse_equation(repair.equation)
    except NotationError:
        return False, False
    repaired = rename(repaired[0], case.spelled.back), rename(repaired[1], case.spelled.back)
    if not is_true(repaired, case.subject.reference):
        return False, False
    restored = is_restored(case, repaired)
    tokens = (case.mutant.token, case.mutant.before)
    named = any(to_text(x, lambda name: spelled_as(case, name)) in repair.what for x in tokens)
    if case.mutant.kind == "dropped term":  # what is missing may come back on the other side
        named = "missing" in repair.what
    return restored or named, restored


def is_restored(case: Case, repaired: Equation) -> bool:
    """Whether both sides are the original's, or both of them negated."""
    assert case.original is not None
    states = generic_states(case.subject.reference)
    sides = list(zip(repaired, case.original, strict=True))
    return any(
        all(judge((a, turn(b)), states) == HOLDS for a, b in sides)
        for turn in (lambda x: x, negate)
    )


def spelled_as(case: Case, name: str) -> str:
    theirs = {ours: theirs for theirs, ours in case.spelled.back.items()}
    return theirs.get(name, name)
