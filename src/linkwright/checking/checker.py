"""`check`: reads the equations, says what their names mean, proves them, or finds what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from typing import Any

from ..errors import LinkwrightError
from ..expressions import (
    Expression,
    Name,
    Number,
    PiMultiple,
    Product,
    Sum,
    names,
    negate,
)
from ..expressions.tree import children
from ..mechanism import Mechanism
from ..readings.modular import independent_rows
from ..readings.residues import PRIME
from .blame import blame_definitions, in_the_texts_words
from .declarations import WITHOUT, without
from .difference import difference
from .duals import EPS, is_dual, is_vector, split
from .inference import inferred_names
from .meaning import Meanings
from .paper_symbols import indices
from .points import Setting
from .prover import Pair, Proof, Prover, drives_of, only_name
from .reading import Line
from .repair import equation_text, repairs, repairs_of_dual
from .report import (
    DEFINITION,
    DIFFERS,
    EQUIVALENT,
    IDENTICAL,
    UNDECIDED,
    UNREADABLE,
    Finding,
    Report,
)
from .sources import in_order, read
from .strays import stray_repairs
from .superabundant import HEADING, Superabundant
from .vocabulary import Vocabulary

MOST_SIMPLE = 12
"""Numbers up to this, and fractions of them, have no multiples that stand for them."""
MOST_MULTIPLE = 8
"""A number that is this many times a parameter's value, or that part of it, stands for it."""
_GRAVITY = {UNREADABLE: 0, DIFFERS: 1, UNDECIDED: 2}
"""An equation of several parts gets the first of these that a part has."""
_UP_TO_A_CONSTANT = re.compile(r"[VPU]\d*|L|H|E")
"""Energies whose zero is a matter of choice."""


def check(
    mechanism: Mechanism, equations: object, *, names: Mapping[str, str] | None = None
) -> Report:
    """Checks people's own equations against the mechanism's.

    `equations` is text or LaTeX, the path of a file with it, or SymPy expressions (one, a list, or
    a mapping of left sides). `names` says which of their symbols is which of ours, or which
    expression of ours: `{"theta1": "q1"}`.

        >>> import linkwright as lw
        >>> report = lw.check(lw.gallery("elbow"), "phi2 = m2*lc2*g*sin(q1 + q2)")
        >>> report[0].repairs[0].what
        'sin(q1 + q2) is cos'
    """
    return check_with({}, mechanism, equations, names or {})


def check_with(
    shared: dict[str, Vocabulary], mechanism: Mechanism, equations: object, names: Mapping[str, str]
) -> Report:
    """`check` with derivations by heading, which texts share; one that has frames has its own."""
    lines, own = read(equations, mechanism)
    said = {**own.names, **names}
    vocabularies = {} if own.frames or own.composed or own.masses else shared
    findings: list[Finding] = []
    inferred: dict[str, str] = {}
    errors: list[LinkwrightError] = []
    notes = []
    for name, group in groupby(lines, key=lambda line: line.section):
        members = list(group)
        readable = [line for line in members if isinstance(line, Line)]
        if not readable:
            findings += in_order(members, [], [])
            continue
        kind = HEADING if name.partition(",")[0] == HEADING else name
        kind = kind if kind == HEADING or name.startswith(WITHOUT) else ""
        if kind not in vocabularies:
            words = Superabundant if kind == HEADING else Vocabulary
            vocabularies[kind] = words(without(mechanism, kind), own)
        section = Section(vocabularies[kind], readable, dict(said))
        origins = section.split()
        section.said |= inferred_names(section)
        section.set_aside()
        parts = [replace(finding, section=name) for finding in section.all_findings()]
        findings += in_order(members, origins, section.merged(parts, origins))
        errors += section.errors
        inferred |= section.inferred()
        notes += [*section.collisions(), section.note()]
    if errors and all(finding.status in (UNREADABLE, DEFINITION) for finding in findings):
        raise errors[0]
    return Report(
        mechanism.name, tuple(findings), inferred, " ".join(n for n in dict.fromkeys(notes) if n)
    )


@dataclass
class Section:
    """The equations under one heading, which share their definitions."""

    vocabulary: Vocabulary
    lines: list[Line]
    said: dict[str, str]
    guessed: dict[str, str] = field(default_factory=dict)
    undivided: Meanings | None = None  # of the text as it is, where equations are dual
    origins: list[Line] = field(default_factory=list)
    repair_provers: dict[frozenset[str], list[Prover]] = field(default_factory=dict)
    aside: dict[int, Finding] = field(default_factory=dict)
    errors: list[LinkwrightError] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)

    def set_aside(self) -> None:
        """Takes out equations with names that mean nothing: they are misprinted or unreadable, and
        must not stop the others from being judged."""
        meanings = Meanings(self.vocabulary, self.lines, self.said)
        for i, line in enumerate(self.lines):
            try:
                meanings.wanted((line.left, line.right))
            except LinkwrightError as error:
                self.errors.append(error)
                self.aside[i] = self._without_meaning(meanings, line, error)
        self.lines = [line for i, line in enumerate(self.lines) if i not in self.aside]
        self.origins = [line for i, line in enumerate(self.origins) if i not in self.aside]

    def _without_meaning(self, meanings: Meanings, line: Line, error: LinkwrightError) -> Finding:
        """Of a name that a family of ours lacks (m3 of m1, m2) it is known what is wrong."""
        pair = (line.left, line.right)
        common = Finding(
            line.number, equation_text(pair), UNREADABLE, note=str(error),
            is_said_wrong=line.is_said_wrong,
        )  # fmt: skip
        own = self.vocabulary
        strays = [name for name in sorted(meanings.used_in(pair)) if own.is_stray(name)]
        if not strays or any(meanings.find(x) is None and x not in strays for x in names_of(pair)):
            return common
        listed = " and ".join(f"there is no {name}" for name in strays)
        found = stray_repairs(meanings, pair, strays)
        return replace(common, status=DIFFERS, note=listed, repairs=found)

    @cached_property
    def meanings(self) -> Meanings:
        return Meanings(self.vocabulary, self.lines, self.said)

    def split(self) -> list[Line]:
        """Equations of dual numbers become several of numbers; the originals, one for each part."""
        used = set().union(*(names(x.left) | names(x.right) for x in self.lines))
        said = {str(x) for x in self.said.values()}
        owners = self.vocabulary.owners
        if EPS in self.vocabulary.own:
            return self.lines
        theirs = {only_name(x.left) for x in self.lines if x.is_definition}
        duals = {name for name in (used | said) - theirs if is_dual(name, owners)}
        if EPS not in used and not any(is_vector(name, owners) for name in duals):
            return self.lines
        inlined = [x for x in self.lines if x.is_definition and EPS in names(x.right)]
        kept = [line for line in self.lines if line not in inlined]
        own = {name: name for name in duals & used} | self.said
        self.undivided = Meanings(self.vocabulary, self.lines, own)
        self.vocabulary.choose_speeds(self._generalized_speeds(), self.undivided.find)
        groups = [split(line, self.undivided.find, owners) for line in kept]
        self.lines = [part for group in groups for part in group]
        self.origins = [line for group, line in zip(groups, kept, strict=True) for _ in group]
        return self.origins

    def _generalized_speeds(self) -> list[Expression]:
        """u1, u2, …, one for each freedom, where the text defines them."""
        own = self.vocabulary.names
        count = len(own.independent) if own.constraints else own.nv
        assert self.undivided is not None
        speeds = [self.undivided.defined.get(f"u{i + 1}") for i in range(count)]
        return [x for x in speeds if x is not None] if None not in speeds else []

    def merged(self, parts: list[Finding], origins: list[Line]) -> list[Finding]:
        """One finding for each equation as the text has it: it differs where a part of it does."""
        found, lines = [], []
        pairs = zip(parts, origins, strict=True)
        for _, group in groupby(pairs, key=lambda pair: id(pair[1])):
            own = list(group)
            worst, origin = min(own, key=lambda part: _GRAVITY.get(part[0].status, len(_GRAVITY)))
            if len(own) > 1:
                pair = (origin.left, origin.right)
                chance = sum(x.chance for x, _ in own)
                worst = replace(worst, equation=equation_text(pair), chance=chance)
                if worst.status == DIFFERS:
                    worst = replace(worst, repairs=repairs_of_dual(self, pair))
            found.append(worst)
            lines.append(origin)
        return [in_the_texts_words(x) for x in blame_definitions(self, found, lines)]

    @cached_property
    def wanted(self) -> list[str]:
        """Our names that the text needs, and all that repairs may need."""
        used = self.meanings.wanted(x for line in self.lines for x in (line.left, line.right))
        own = self.vocabulary.names
        motion = [f"{dots}{name}" for name in own.qd for dots in ("", "d", "dd")]
        motion = [name for name in motion if name in self.vocabulary]
        constants = self.vocabulary.eqs.constants
        known = [name for name in self.vocabulary.parameters if name not in constants]
        return list(dict.fromkeys([*used, *motion, *known]))

    @cached_property
    def used(self) -> list[str]:
        return self.meanings.wanted(x for line in self.lines for x in (line.left, line.right))

    # -- assumptions ------------------------------------------------------------------------

    @cached_property
    def settings(self) -> list[Setting]:
        """What may be assumed, from the least: values of numbers without a name; then what
        parameters are made of, and no drives but those that the text names."""
        declared = self.vocabulary.mechanism.parameters
        silent = self._silent()
        base = self._values()
        made = {
            name: expression
            for name, expression in declared.items()
            if names(expression) and name in self.vocabulary.parameters and name not in self.used
        }
        unnamed = {name: x for name, x in self._fractions().items() if name not in declared}
        bounds = (base, {**base, **made}, {**base, **unnamed}, self._all_values())
        found = [Setting(bound, who) for who in (frozenset(), silent) for bound in bounds]
        own = {"gamma"} - declared.keys() - set(self.used)
        if own & set(self.vocabulary.parameters):
            found.insert(1, Setting({**base, "gamma": Fraction(0)}))
        return list({str(setting): setting for setting in found}.values())

    def _values(self) -> dict[str, Any]:
        """Where the text has numbers that are no mere factors: values of parameters that it does
        not name: all if it names none, else those without a name, and those that it has."""
        declared = self.vocabulary.mechanism.parameters
        if not self._written:
            return {}
        if values := self._all_values():
            return values
        return {
            name: value
            for name, value in self._fractions().items()
            if name not in declared or self._is_written(value)
        }

    @cached_property
    def _written(self) -> set[Fraction]:
        """Numbers of the text that are no mere factors."""
        sides = [side for line in self.lines for side in (line.left, line.right)]
        every = {number for side in sides for number in numbers(side)}
        return {number for number in every if number.denominator > 2 or number > 12}

    def _is_written(self, value: object) -> bool:
        """Whether the text has a value, or a simple multiple of it: 4.905*2 for 9.81."""
        if not isinstance(value, Fraction) or not value:
            return False
        if value in self._written or max(value.numerator, value.denominator) <= MOST_SIMPLE:
            return value in self._written
        shares = [abs(number / value) for number in self._written]
        return any(max(share.numerator, share.denominator) <= MOST_MULTIPLE for share in shares)

    def _all_values(self) -> dict[str, Any]:
        """Of all parameters, where the text names none, but has numbers."""
        named = any(name in self.used for name in self.vocabulary.eqs.parameters)
        return self._fractions() if self._written and not named else {}

    def _fractions(self) -> dict[str, Any]:
        """Values of parameters that the text does not name, but angles that are no right ones."""
        return {
            name: value
            for name, value in self.vocabulary.eqs.parameters.items()
            if name not in self.used
            and name not in self.vocabulary.eqs.constants
            and not (isinstance(value, PiMultiple) and (2 * value.coefficient).denominator != 1)
        }

    def _silent(self) -> frozenset[str]:
        own = self.vocabulary.names
        drives = own.actuators or tuple(f"tau{i + 1}" for i in range(own.nv))
        return frozenset(drives) - drives_of(self.meanings, self.used)

    @cached_property
    def provers(self) -> list[Prover]:
        return [Prover(self.meanings, self.wanted, setting) for setting in self.settings]

    # -- verdicts ---------------------------------------------------------------------------

    def all_findings(self) -> list[Finding]:
        """Of all equations, those that were set aside among them."""
        judged = iter(self.findings() if self.lines else [])
        count = len(self.lines) + len(self.aside)
        return [self.aside[i] if i in self.aside else next(judged) for i in range(count)]

    def findings(self) -> list[Finding]:
        pairs = [(line.left, line.right) for line in self.lines]
        proofs, under = self._proved(pairs)
        self.proofs = proofs
        rows = self._free_rows(proofs)
        found = []
        for i, (line, proof) in enumerate(zip(self.lines, proofs, strict=True)):
            common = Finding(
                line.number, equation_text(pairs[i]), IDENTICAL, proof.chance, str(under[i]),
                is_said_wrong=line.is_said_wrong,
            )  # fmt: skip
            if i in self.meanings.defining:
                note = "nothing uses it" if i in self.meanings.idle else ""
                found.append(replace(common, status=DEFINITION, chance=0.0, under="", note=note))
            elif proof.holds:
                found.append(replace(common, note=rows[i][0] if i in rows else ""))
            elif proof.holds is None:
                found.append(replace(common, status=UNDECIDED, note=proof.why, under=""))
            else:
                found.append(self._differing(common, i, rows))
        return found

    def _proved(self, pairs: list[Pair]) -> tuple[list[Proof], list[Setting]]:
        """The first setting under which each holds; that of the fewest assumptions if none."""
        proofs = [Proof(None)] * len(pairs)
        under = [Setting()] * len(pairs)
        left = [i for i in range(len(pairs)) if i not in self.meanings.defining]
        for prover in self.provers:
            tried = prover.prove([pairs[i] for i in left]) if left else []
            for i, proof in zip(left, tried, strict=True):
                if proof.holds or proofs[i].holds is None:
                    proofs[i], under[i] = proof, prover.setting
            left = [i for i in left if not proofs[i].holds]
        return proofs, under

    def _differing(self, common: Finding, i: int, rows: Mapping[int, tuple[str, float]]) -> Finding:
        line = self.lines[i]
        pair = (line.left, line.right)
        prover = self.provers[0]
        note, chance = rows.get(i) or self._equivalence(pair, prover)
        if note:
            return replace(common, status=EQUIVALENT, note=note, chance=chance, under="")
        apart = difference(self.meanings, pair, prover.setting)
        is_part = bool(self.origins) and self.origins[i] is not line
        found = () if is_part else repairs(self, pair, apart)
        text = apart.text() if apart is not None else ""
        return replace(common, status=DIFFERS, under="", repairs=found, difference=text)

    def _equivalence(self, pair: Pair, prover: Prover) -> tuple[str, float]:
        """What an energy may differ by and serve all the same, with the chance of an error."""
        for side, other in (pair, pair[::-1]):
            name = only_name(side)
            energy = self.vocabulary.is_customary(name) and _UP_TO_A_CONSTANT.fullmatch(name)
            if not energy or not self._moves(other):
                continue
            if (proof := prover.constancy(pair)).holds:
                return "up to a constant", proof.chance
            if name == "L" and (proof := self._same_motion(other, prover)).holds:
                return "up to the total derivative of a function of q and t", proof.chance
        return "", 0.0

    def _moves(self, expression: Expression) -> bool:
        """Whether an expression changes with the motion, and not with parameters alone."""
        own = self.vocabulary
        wanted = self.meanings.wanted([expression])
        return any(name not in own.parameters and name not in own.eqs.constants for name in wanted)

    def _same_motion(self, lagrangian: Expression, prover: Prover) -> Proof:
        """Whether a function L has Lagrange's equations of the mechanism."""
        own, chance = self.vocabulary, 0.0
        if own.names.q != own.names.qd or own.names.constraints:
            return Proof(None)
        pairs = []
        try:
            for k in range(own.names.nv):
                momentum = self.meanings.partial(lagrangian, "qd", k)
                force = self.meanings.partial(lagrangian, "q", k)
                left = Sum((self.meanings.total_rate(momentum), negate(force)))
                pairs.append((left, Name(f"lagrange@{k}")))
            wanted = self.meanings.wanted(side for pair in pairs for side in pair)
        except LinkwrightError:
            return Proof(None)
        for proof in Prover(self.meanings, wanted, prover.setting).prove(pairs):
            if not proof.holds:
                return proof
            chance += proof.chance
        return Proof(True, chance)

    def _free_rows(self, proofs: list[Proof]) -> dict[int, tuple[str, float]]:
        """Rows of C that differ from Christoffel's but give the same C q̇."""
        own = self.vocabulary.names
        places: dict[tuple[int, int], int] = {}
        for i, line in enumerate(self.lines):
            name = only_name(line.left)
            if (
                name[:1] == "C"
                and name[1:].strip("_").isdigit()
                and i not in self.meanings.defining
            ):
                at = indices(name[1:], (own.nv, own.nv))
                if at and not line.is_said_wrong:
                    places[at[0], at[1]] = i
        right = [i for i in places.values() if proofs[i].holds]
        notes = {i: ("Christoffel's", proofs[i].chance) for i in right}
        span = range(1, own.nv + 1)
        for row in span:
            lines = [places.get((row, column)) for column in span]
            if None in lines or all(proofs[i].holds for i in lines if i is not None):
                continue
            speeds = [Name(f"d{name}") for name in own.qd]
            sides = [
                Sum(tuple(
                    Product((getattr(self.lines[i], side), speed))
                    for i, speed in zip(lines, speeds, strict=True) if i is not None
                ))
                for side in ("left", "right")
            ]  # fmt: skip
            (proof,) = self.provers[0].prove([(sides[0], sides[1])])
            if proof.holds:
                text = "not Christoffel's, but C q̇ is the same"
                notes |= {i: (text, proof.chance) for i in lines if i is not None}
        return notes

    # -- all together -----------------------------------------------------------------------

    def inferred(self) -> dict[str, str]:
        """Names of theirs that were not said, and are none of ours."""
        found = dict(self.guessed)
        for name in sorted(self.meanings.used):
            meaning = self.meanings.find(name)
            if not isinstance(meaning, str) or name in self.said:
                continue
            if meaning.replace("_", "") != name.replace("_", ""):
                found[name] = meaning
        return found

    def collisions(self) -> list[str]:
        """What names mean that the mechanism and papers both have."""
        ours = [name for name in sorted(self.meanings.used) if self.meanings.find(name) == name]
        return [text for name in ours if (text := self.vocabulary.collision(name))]

    def note(self) -> str:
        """Whether the equations that hold determine the motion."""
        pairs = [
            (line.left, line.right)
            for line, proof in zip(self.lines, self.proofs, strict=True)
            if proof.holds
        ]
        nv = self.vocabulary.names.nv
        if not pairs or self.vocabulary.names.constraints or "qdd" not in self.vocabulary.inputs:
            return ""
        try:
            rest, *columns = (self.provers[0].pushed(pairs, i) for i in (None, *range(nv)))
        except ArithmeticError:
            return ""
        rows = [[c[k] - rest[k] for c in columns] for k in range(len(pairs))]
        found = len(independent_rows(rows, PRIME))
        if not found:
            return ""
        if found == nv:
            return f"The equations of motion determine all {nv} accelerations."
        return f"The equations that hold determine {found} of {nv} accelerations."


def numbers(expression: Expression) -> list[Fraction]:
    if isinstance(expression, Number):
        return [abs(expression.value)]
    return [number for child in children(expression) for number in numbers(child)]


def names_of(pair: Pair) -> frozenset[str]:
    return names(pair[0]) | names(pair[1])
