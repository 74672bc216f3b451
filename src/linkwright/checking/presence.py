"""Which equations of a model solution a text has, which it has wrong, and which are missing.

At a random point (q, q̇ and the parameters are random numbers modulo 2⁶¹ − 1281) an equation is a
relation between accelerations, joint torques and named quantities (M11, phi1, K, x1, …), and its
derivatives by these are a row of numbers. An equation of the solution is present where its row is a
combination of the rows of the text's right equations: then it follows from them. A quantity
that the solution's equation uses, but does not state, may be replaced by its value, so that
`tau1 = d11*ddq1 + …` is present in a text that has d11 written out; the reverse is not true, and a
text with nothing but Lagrange's equation does not have the equations written out.

An entry of the mass matrix or of the gravity vector also follows from the equation of its joint
written out: M12 is the factor of ddq2 in tau1, g1 is what is left of tau1 at rest.

Relations between coordinates, speeds and parameters alone have no such row; they are present where
the text has them up to a constant factor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from ..algebra.exact.algebra import evaluate_expression
from ..algebra.exact.elimination import independent_rows
from ..algebra.exact.modular import UnluckyError
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residue_values import PRIME, Value
from ..errors import LinkwrightError
from ..tape import Op
from .claims import Claim, Claims, read_pair
from .points import Setting
from .prover import Prover, Scope
from .slopes import Jet, JetAlgebra
from .vocabulary import Vocabulary

PRESENT, WRONG, MISSING = "present", "wrong", "missing"
SEEDS = range(501, 521)
"""Points that are tried: at some an equation divides by zero."""
SIMILAR = 0.5
"""Share of common names from which on a wrong equation is an attempt at one of the solution."""
_SAME = {"D": "M", "d": "M", "H": "M", "G": "g", "phi": "g", "T": "K", "P": "V", "U": "V"}

_ENTRY = re.compile(r"(?:[MDdHm]_?(\d)_?(\d)|(?:g|G|phi)_?(\d))")

Row = dict[str, int]


def presence(solution: Claims, text: Claims) -> list[str]:
    """For each equation of the solution: present, wrong or missing."""
    if not solution.claims:
        return []
    comparison = _Comparison(solution, text)
    found = [_verdict(comparison, claim) for claim in solution.claims]
    return _with_attempts(solution, text, found)


def _verdict(comparison: _Comparison, claim: Claim) -> str:
    if comparison.has(claim):
        return PRESENT
    return WRONG if comparison.tries(claim) else MISSING


def _with_attempts(solution: Claims, text: Claims, found: list[str]) -> list[str]:
    """Wrong equations about no single quantity, and without a repair that says what is meant: each
    is an attempt at the missing equation whose names it shares most."""
    for wrong in (x for x in text.wrong if not (x.subject or x.finding.repairs)):
        shares = {
            i: _share(claim, wrong)
            for i, claim in enumerate(solution.claims)
            if found[i] == MISSING
        }
        best = max(shares, key=lambda i: shares[i], default=None)
        if best is not None and shares[best] >= SIMILAR:
            found[best] = WRONG
    return found


def _share(one: Claim, other: Claim) -> float:
    used, others = set(one.names), set(other.names)
    return len(used & others) / max(1, len(used | others))


def _is_combination(row: Row, others: Sequence[Row]) -> bool:
    keys = sorted({key for one in [*others, row] for key in one})
    dense = [[one.get(key, 0) for key in keys] for one in [*others, row]]
    return len(others) not in independent_rows(dense, PRIME)


class _Comparison:
    """A solution and a text at one random point."""

    def __init__(self, solution: Claims, text: Claims) -> None:
        self.solution, self.text = solution, text
        self.rows: dict[int, Row] = {}
        self.pushed: list[dict[str, Value]] = []
        self.values: dict[str, Value] = {}
        self._reckon()

    @cached_property
    def claims(self) -> list[Claim]:
        return [*self.solution.claims, *self.text.claims, *self.repaired]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return self.claims[0].meanings.vocabulary

    @cached_property
    def repaired(self) -> list[Claim]:
        """The wrong equations of the text, corrected."""
        return [
            Claim(claim.finding, pair, claim.meanings)
            for claim in self.text.wrong
            for repair in claim.finding.repairs[:1]
            if (pair := read_pair(repair.equation)) is not None
        ]

    # -- rows -------------------------------------------------------------------------------

    def _reckon(self) -> None:
        """Rows of all equations at the first point at which they have some."""
        wanted = self._wanted(self.claims)
        bound = {**self.solution.setting.bound, **self.text.setting.bound}
        setting = Setting(bound, self.text.setting.silent)
        prover = Prover(self.claims[0].meanings, wanted, setting)
        for seed in SEEDS:
            try:
                prover.scope(seed, lambda scope: self._read(prover, scope))
                return
            except UnluckyError:
                continue
            except LinkwrightError:
                return

    def _wanted(self, claims: Iterable[Claim]) -> list[str]:
        own = self.vocabulary.names
        found = dict.fromkeys(f"dd{name}" for name in own.qd if f"dd{name}" in self.vocabulary)
        for claim in claims:
            found |= dict.fromkeys([*claim.names, *([claim.subject] if claim.subject else [])])
            for i in self._joints(claim.subject):
                found |= dict.fromkeys(self._row_names(i))
        return list(found)

    def _joints(self, subject: str) -> list[int]:
        """The joints whose equations have this entry of M or g in them."""
        match = _ENTRY.fullmatch(subject)
        if match is None or (match[3] and not self._rests_by_weight_alone):
            return []
        return [int(digit) for digit in match.groups() if digit]

    @cached_property
    def _rests_by_weight_alone(self) -> bool:
        mechanism = self.vocabulary.mechanism
        return mechanism.without("springs", "forces") == mechanism

    def _row_names(self, i: int) -> list[str]:
        """The names of the i-th joint's torque and row of the mass matrix; none with constraints or
        actuators, where these are not all of its equation."""
        own = self.vocabulary.names
        row = [f"tau{i}", *(f"M{i}_{j + 1}" for j in range(own.nv))]
        is_plain = i <= own.nv and not (own.constraints or own.actuators)
        return row if is_plain and all(name in self.vocabulary for name in row) else []

    def _read(self, prover: Prover, scope: Scope) -> None:
        field, ground = scope.field, prover.ground
        self.values = scope.ours
        self.rows = {}
        for claim in self.claims:
            try:
                self.rows[id(claim)] = self._row(claim, field)
            except (LinkwrightError, LookupError, UnluckyError):
                continue  # it can still be the same equation, letter by letter
        self.pushed = []
        for i in range(self.vocabulary.names.nv):
            ground.pushed = i
            try:
                self.pushed.append(ground(field))
            finally:
                ground.pushed = None

    def _row(self, claim: Claim, field: PrimeField) -> Row:
        algebra = JetAlgebra(field)
        theirs: dict[str, Jet] = {}

        def lookup(name: str) -> Jet:
            if name not in theirs:
                meaning = claim.meanings.find(name)
                if meaning is None:
                    raise claim.meanings.unknown(name)
                theirs[name] = (
                    self._jet(meaning)
                    if isinstance(meaning, str)
                    else evaluate_expression(meaning, algebra, lookup)
                )
            return theirs[name]

        sides = [evaluate_expression(side, algebra, lookup) for side in claim.pair]
        return dict(algebra.apply(Op.SUB, sides).slopes)

    def _jet(self, name: str) -> Jet:
        value = self.values[name]
        return Jet(value, {} if self._is_given(name) else {self._key(name): 1})

    @cached_property
    def _given(self) -> set[str]:
        """What is given at the point: coordinates, speeds, parameters, time."""
        symbols = self.vocabulary.symbols
        return {str(symbols[key][i]) for key in ("q", "qd", "p", "t") if key in symbols
                for i in range(symbols[key].shape[0])}  # fmt: skip

    def _symbol(self, name: str) -> str:
        known = self.vocabulary.known(name)
        return str(known) if known.is_symbolic() else ""

    def _is_given(self, name: str) -> bool:
        return self._symbol(name) in self._given

    def _key(self, name: str) -> str:
        """One key for all names of a quantity: d12, D12 and M21."""
        if symbol := self._symbol(name):
            return symbol
        if number := self.values[name].number:
            return f"value {number}"
        stem = name.rstrip("0123456789_")
        return f"zero {_SAME.get(stem, stem)}{name[len(stem) :].replace('_', '')}"

    def _fact(self, name: str) -> Row:
        """The row of `name` = its value, which may depend on accelerations."""
        row = {self._key(name): 1}
        for i, own in enumerate(self.vocabulary.names.qd):
            acceleration = f"dd{own}"
            if acceleration not in self.values or i >= len(self.pushed):
                continue
            changed = self.pushed[i]
            step = changed[acceleration].number - self.values[acceleration].number
            rise = changed[name].number - self.values[name].number
            slope = rise * pow(step, -1, PRIME) % PRIME
            if slope:
                row[self._key(acceleration)] = -slope % PRIME
        return row

    def _facts(self, used: Iterable[str], subject: str) -> list[Row]:
        about = self._key(subject) if subject in self.values else ""
        return [
            self._fact(name)
            for name in used
            if name in self.values and not self._symbol(name) and self._key(name) != about
        ]

    # -- verdicts ---------------------------------------------------------------------------

    def has(self, claim: Claim) -> bool:
        """Whether the right equations of the text state this one."""
        return (
            self._follows(claim, self.text.right)
            or self._is_entry(claim, self.text.right)
            or self._is_copied(claim)
        )

    def _is_entry(self, claim: Claim, others: Sequence[Claim]) -> bool:
        """Whether it is about an entry of M or g whose joint has its equation written out."""
        if claim.subject not in self.values or self._symbol(claim.subject):
            return False
        rows = [self.rows[id(x)] for x in others if self.rows.get(id(x))]
        for i in self._joints(claim.subject):
            names = self._row_names(i)
            if names and all(name in self.values for name in names):
                row = {self._key(names[0]): 1}
                for own, entry in zip(self.vocabulary.names.qd, names[1:], strict=True):
                    row[self._key(f"dd{own}")] = -self.values[entry].number % PRIME
                if _is_combination(row, rows):
                    return True
        return False

    def tries(self, claim: Claim) -> bool:
        """Whether it would follow if the wrong equations of the text were right."""
        subjects = {x.subject for x in self.text.wrong if x.subject in self.values}
        keys = {self._key(name) for name in subjects}
        if claim.subject in self.values and self._key(claim.subject) in keys:
            return True
        facts = [self._fact(name) for name in subjects if not self._symbol(name)]
        corrected = [*self.text.right, *self.repaired]
        return self._follows(claim, corrected, facts) or self._is_entry(claim, corrected)

    def _follows(self, claim: Claim, others: Sequence[Claim], facts: Sequence[Row] = ()) -> bool:
        row = self.rows.get(id(claim))
        if not row:
            return False
        rows = [self.rows[id(x)] for x in others if self.rows.get(id(x))]
        rows += facts
        used = self._facts(claim.names, claim.subject)
        says_more = not _is_combination(row, used)
        return _is_combination(row, [*rows, *used] if says_more else rows)

    def _is_copied(self, claim: Claim) -> bool:
        """Whether a right equation of the text is this one up to a constant factor."""
        return any(
            one.finding.equation == claim.finding.equation or self._is_multiple(one, claim)
            for one in self.text.right
        )

    def _is_multiple(self, one: Claim, other: Claim) -> bool:
        try:
            (a, b), (c, d) = (self._apart(one, other, seed) for seed in SEEDS[:2])
        except (LinkwrightError, ArithmeticError, LookupError):
            return False
        return bool(a and b and c and d) and (a * d - b * c) % PRIME == 0

    def _apart(self, one: Claim, other: Claim, seed: int) -> tuple[int, int]:
        """left − right of both, where all quantities are independent random numbers."""
        field = PrimeField(seed)
        used = {*one.names, *other.names}
        ours = {name: field.symbol(self._key(name) if name in self.values else name)
                for name in used}  # fmt: skip
        residuals = (Scope(field, ours, x.meanings).residual(x.pair) for x in (one, other))
        first, second = (x.number for x in residuals)
        return first, second
