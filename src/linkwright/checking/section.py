"""The equations under one heading of a text: their meanings, their proofs, and the verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

from ..algebra.exact.elimination import rank_modulo
from ..algebra.exact.residue_values import PRIME
from ..errors import LinkwrightError
from ..expressions import Expression, names
from .blame import blame_definitions, in_the_texts_words
from .conditions import Conditions, relevant_setting
from .difference import difference
from .duals import EPS, is_dual, is_vector, split
from .equivalence import equivalence, free_rows
from .meaning import Meanings
from .points import Setting
from .prover import Pair, Proof, Prover, only_name
from .reading import Line
from .repair import equation_text, repairs, repairs_of_dual
from .report import DEFINITION, DIFFERS, EQUIVALENT, IDENTICAL, UNDECIDED, UNREADABLE, Finding
from .strays import stray_repairs
from .vocabulary import Vocabulary

_GRAVITY = {UNREADABLE: 0, DIFFERS: 1, UNDECIDED: 2}
"""An equation of several parts gets the first of these that a part has."""


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
    named_aside: set[str] = field(default_factory=set)
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
                found = [meanings.find(name) for name in names_of((line.left, line.right))]
                self.named_aside |= {ours for ours in found if isinstance(ours, str)}
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
        hidden = self.vocabulary.hidden
        known = [name for name in self.vocabulary.parameters if name not in hidden]
        return list(dict.fromkeys([*used, *motion, *known]))

    @cached_property
    def used(self) -> list[str]:
        """Our names that the text has, also in equations that cannot be judged."""
        used = self.meanings.wanted(x for line in self.lines for x in (line.left, line.right))
        return [*used, *sorted(self.named_aside - set(used))]

    @cached_property
    def settings(self) -> list[Setting]:
        """What may be assumed, from the least."""
        return Conditions(self.meanings, self.lines, self.used).settings()

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
        rows = free_rows(self, proofs)
        found = []
        for i, (line, proof) in enumerate(zip(self.lines, proofs, strict=True)):
            assumed = relevant_setting(self.meanings, pairs[i], under[i]) if proof.holds else ""
            common = Finding(
                line.number, equation_text(pairs[i]), IDENTICAL, proof.chance, str(assumed),
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
        if i in rows:
            note, chance = rows[i]
            return replace(common, status=EQUIVALENT, note=note, chance=chance, under="")
        proof = equivalence(self, pair, prover)
        if proof.holds is not False:
            status = EQUIVALENT if proof.holds else UNDECIDED
            return replace(common, status=status, note=proof.why, chance=proof.chance, under="")
        apart = difference(self.meanings, pair, prover.setting)
        is_part = bool(self.origins) and self.origins[i] is not line
        found = () if is_part else repairs(self, pair, apart)
        text = apart.text() if apart is not None else ""
        return replace(common, status=DIFFERS, under="", repairs=found, difference=text)

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
        found = rank_modulo(rows, PRIME)
        if not found:
            return ""
        if found == nv:
            return f"The equations of motion determine all {nv} accelerations."
        return f"The equations that hold determine {found} of {nv} accelerations."


def names_of(pair: Pair) -> frozenset[str]:
    return names(pair[0]) | names(pair[1])
