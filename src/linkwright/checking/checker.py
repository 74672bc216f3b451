"""`check`: reads the equations, says what their names mean, proves them, or finds what is wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from ..errors import ExpressionError, FileError
from ..expressions import Expression, Name, Number, PiMultiple, Product, Sum, names, parse, to_text
from ..expressions.tree import children
from ..mechanism import Mechanism, require_mechanism
from ..readings.modular import independent_rows
from ..readings.residues import PRIME
from .declarations import NOTHING, WITHOUT, Declarations, declared, without
from .difference import difference
from .duals import EPS, is_dual, is_vector, split, without_eps
from .foreign import from_sympy, is_foreign
from .inference import inferred_names
from .meaning import Meanings
from .points import Setting
from .prover import Pair, Proof, Prover, drives_of, only_name
from .reading import MAX_TEXT, Line, checked_size, read_text
from .repair import repairs
from .report import DEFINITION, DIFFERS, IDENTICAL, UNDECIDED, Finding, Repair, Report
from .superabundant import HEADING, Superabundant
from .vocabulary import Vocabulary, indices

_ENERGIES = ("K", "T", "V", "P", "U", "L", "H", "E")


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
    lines, own = read(equations, require_mechanism(mechanism))
    said = {**own.names, **(names or {})}
    vocabularies: dict[str, Vocabulary] = {}
    findings: list[Finding] = []
    inferred: dict[str, str] = {}
    notes = []
    for name, group in groupby(lines, key=lambda line: line.section):
        kind = name if name == HEADING or name.startswith(WITHOUT) else ""
        if kind not in vocabularies:
            words = Superabundant if name == HEADING else Vocabulary
            vocabularies[kind] = words(without(mechanism, kind), own)
        section = Section(vocabularies[kind], list(group), dict(said))
        origins = section.split()
        section.said |= inferred_names(section)
        parts = [replace(finding, section=name) for finding in section.findings()]
        findings += section.merged(parts, origins)
        inferred |= section.inferred()
        notes.append(section.note())
    return Report(
        mechanism.name, tuple(findings), inferred, " ".join(n for n in dict.fromkeys(notes) if n)
    )


def read(equations: object, mechanism: Mechanism) -> tuple[list[Line], Declarations]:
    """Lines of text, of a file, or of SymPy expressions, and what the text says of itself."""
    if isinstance(equations, str):
        is_file = "=" not in equations and "\n" not in equations and len(equations) < 1000
        equations = Path(equations) if is_file else equations
    if isinstance(equations, Path):
        equations = _file(equations)
    if isinstance(equations, str):
        text, said = declared(checked_size(equations), mechanism)
        return read_text(text), said
    if is_foreign(equations):
        return from_sympy(equations), NOTHING
    raise ExpressionError(
        f"{type(equations).__name__} is no text with equations",
        remedy="give text, the path of a file, or SymPy expressions",
    )


def _file(path: Path) -> str:
    try:
        if path.stat().st_size > 4 * MAX_TEXT:
            raise FileError(f"has more than {4 * MAX_TEXT} bytes", where=str(path))
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror}", where=str(path), remedy="give text with '='"
        ) from None
    except UnicodeDecodeError:
        raise FileError("is no UTF-8 text", where=str(path)) from None


@dataclass
class Section:
    """The equations under one heading, which share their definitions."""

    vocabulary: Vocabulary
    lines: list[Line]
    said: dict[str, str]
    guessed: dict[str, str] = field(default_factory=dict)

    @cached_property
    def meanings(self) -> Meanings:
        return Meanings(self.vocabulary, self.lines, self.said)

    def split(self) -> list[Line]:
        """Equations of dual numbers become several of numbers; the originals, one for each part."""
        used = set().union(*(names(x.left) | names(x.right) for x in self.lines))
        said = {str(x) for x in self.said.values()}
        owners = self.vocabulary.owners
        theirs = {only_name(x.left) for x in self.lines if x.is_definition}
        duals = {name for name in (used | said) - theirs if is_dual(name, owners)}
        if EPS not in used and not any(is_vector(name, owners) for name in duals):
            return self.lines
        inlined = [x for x in self.lines if x.is_definition and EPS in names(x.right)]
        kept = [line for line in self.lines if line not in inlined]
        own = {name: name for name in duals & used} | self.said
        self.undivided = Meanings(self.vocabulary, self.lines, own, lenient=True)
        self.vocabulary.choose_speeds(self._generalized_speeds(), self.undivided.find)
        groups = [split(line, self.undivided.find, owners) for line in kept]
        self.lines = [part for group in groups for part in group]
        return [line for group, line in zip(groups, kept, strict=True) for _ in group]

    def _generalized_speeds(self) -> list[Expression]:
        """u1, u2, …, one for each freedom, where the text defines them."""
        own = self.vocabulary.names
        count = len(own.independent) if own.constraints else own.nv
        speeds = [self.undivided.defined.get(f"u{i + 1}") for i in range(count)]
        return [x for x in speeds if x is not None] if None not in speeds else []

    def merged(self, parts: list[Finding], origins: list[Line]) -> list[Finding]:
        """One finding for each equation: it differs where a part of it does."""
        found = []
        pairs = zip(parts, origins, strict=True)
        for _, group in groupby(pairs, key=lambda pair: id(pair[1])):
            own = list(group)
            worst = next((x for x, _ in own if x.status == DIFFERS), own[0][0])
            if len(own) > 1:
                origin = own[0][1]
                chance = sum(x.chance for x, _ in own)
                text = equation_text((origin.left, origin.right))
                found_repairs = self._repairs_of_whole(origin, worst)
                worst = replace(worst, equation=text, chance=chance, repairs=found_repairs)
            found.append(worst)
        return found

    def _repairs_of_whole(self, origin: Line, worst: Finding) -> tuple[Repair, ...]:
        """Repairs of a part that are right for all parts; else an eps that is too many."""
        kept = [x for x in map(undivided, worst.repairs) if self._is_right(origin, x)]
        if kept or worst.status != DIFFERS:
            return tuple(kept)
        left = to_text(origin.left)
        others = (
            Repair("extra factor", what, f"{left} = {to_text(right)}")
            for what, right in without_eps(origin.right)
        )
        return tuple(islice((x for x in others if self._is_right(origin, x)), 1))

    def _is_right(self, origin: Line, repair: Repair) -> bool:
        """Whether all parts of a repaired equation hold."""
        left, right = (parse(side) for side in repair.equation.split(" = "))
        line = replace(origin, left=left, right=right)
        parts = split(line, self.undivided.find, self.vocabulary.owners)
        pairs = [(part.left, part.right) for part in parts]
        wanted = self.meanings.wanted(side for pair in pairs for side in pair)
        prover = Prover(self.meanings, wanted, self.settings[0])
        return all(proof.holds for proof in prover.prove(pairs))

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
        if "gamma" in self.vocabulary.parameters and "gamma" not in declared:
            found.insert(1, Setting({**base, "gamma": Fraction(0)}))
        return list({str(setting): setting for setting in found}.values())

    def _values(self) -> dict[str, Any]:
        """Where the text has numbers that are no mere factors: values of parameters that it does
        not name: all if it names none, else those without a name, and those that it has."""
        declared = self.vocabulary.mechanism.parameters
        written = {
            number
            for line in self.lines
            for side in (line.left, line.right)
            for number in numbers(side)
            if number.denominator > 2 or number > 12
        }
        if not written:
            return {}
        if values := self._all_values():
            return values
        return {
            name: value
            for name, value in self._fractions().items()
            if name not in declared or value in written
        }

    def _all_values(self) -> dict[str, Any]:
        """Of all parameters, where the text names none."""
        named = any(name in self.used for name in self.vocabulary.eqs.parameters)
        return {} if named else self._fractions()

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
                found.append(replace(common, status=DEFINITION, chance=0.0, under=""))
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
        if i in rows:
            note, chance = rows[i]
            return replace(common, note=note, chance=chance)
        prover = self.provers[0]
        if only_name(line.left) in _ENERGIES and (proof := prover.constancy(pair)).holds:
            return replace(common, note="up to a constant", chance=proof.chance, under="")
        apart = difference(self.meanings, pair, prover.setting)
        found = repairs(self, pair, apart)
        text = apart.text() if apart is not None else ""
        return replace(common, status=DIFFERS, under="", repairs=found, difference=text)

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
                at = indices(name[1:])
                if len(at) == 2 and not line.is_said_wrong:
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
            is_theirs = isinstance(meaning, str) and meaning != name and name not in self.said
            if is_theirs and isinstance(meaning, str):
                found[name] = meaning
        return found

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


def undivided(repair: Repair) -> Repair:
    """The repair of a part, said of the whole."""
    what, equation = (re.sub(r"@\w+", "", text) for text in (repair.what, repair.equation))
    return replace(repair, what=what, equation=equation)


def numbers(expression: Expression) -> list[Fraction]:
    if isinstance(expression, Number):
        return [abs(expression.value)]
    return [number for child in children(expression) for number in numbers(child)]


def equation_text(pair: Pair) -> str:
    return f"{to_text(pair[0])} = {to_text(pair[1])}"
