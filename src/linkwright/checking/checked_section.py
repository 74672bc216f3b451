"""The equations under one heading of a text: their meanings, their proofs, and the verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby

from ..algebra.exact.elimination import rank_modulo
from ..algebra.exact.residues import FIELD_PRIME
from ..errors import ExpressionError, LinkwrightError
from ..expressions import Expression, Name, names_in_expression
from .assumption_search import AssumptionFinder, relevant_assumptions
from .check_report import DEFINITION, DIFFERS, EQUIVALENT, IDENTICAL, UNDECIDED, UNREADABLE, Finding
from .constraint_functions import residual_names_sentence
from .corrected_statements import statement_text
from .definition_repairs import blame_definitions, hide_checker_names
from .difference import statement_difference
from .dual_statements import is_dual_symbol_name, is_dual_vector_symbol, split_dual_statement
from .equivalence import equivalent_coriolis_rows, prove_equivalence
from .frame_names import FrameNames
from .inferred_names import inferred_names_of_statement
from .motion_sampler import CheckAssumptions
from .printed_labels import latex_name_of_label
from .prover import EquationProof, EquationProver, EquationSides, single_name_of_statement_side
from .repair import find_dual_repairs, find_repairs
from .statement_reader import Statement
from .stray_names import repair_stray_names
from .symbol_meanings import SymbolMeanings
from .symbol_table import DUAL_UNIT_NAME
from .vocabulary import CheckerVocabulary

_VERDICT_SEVERITY = {UNREADABLE: 0, DIFFERS: 1, UNDECIDED: 2}
"""An equation of several parts gets the first of these that a part has."""


@dataclass
class CheckedSection:
    """The equations under one heading, which share their definitions."""

    vocabulary: CheckerVocabulary
    statements: list[Statement]
    given_names: dict[str, str]
    guessed_names: dict[str, str] = field(default_factory=dict)
    dual_meanings: SymbolMeanings | None = None  # of the text as it is, where equations are dual
    original_statements: list[Statement] = field(default_factory=list)
    unsplit_errors: dict[int, LinkwrightError] = field(default_factory=dict)
    repair_provers: dict[frozenset[str], list[EquationProver]] = field(default_factory=dict)
    set_aside_findings: dict[int, Finding] = field(default_factory=dict)
    set_aside_names: set[str] = field(default_factory=set)
    errors: list[LinkwrightError] = field(default_factory=list)
    proofs: list[EquationProof] = field(default_factory=list)

    def adopt_generalized_speeds(self) -> None:
        """Let the vocabulary see the names that the text defines by an equation."""
        meanings = SymbolMeanings(self.vocabulary, self.statements, self.given_names)
        defined = [
            (name, meanings.definitions[name])
            for i, name in meanings.defining_statements.items()
            if not self.statements[i].is_definition
        ]
        self.vocabulary.adopt_text_speeds(defined, meanings.find_meaning)

    def set_aside_meaningless(self) -> None:
        """Take out equations with unknown names or products of vectors, which are misprinted or
        unreadable, so that the others can be judged."""
        meanings = SymbolMeanings(self.vocabulary, self.statements, self.given_names)
        for i, line in enumerate(self.statements):
            try:
                if id(line) in self.unsplit_errors:
                    raise self.unsplit_errors[id(line)]
                meanings.needed_names((line.left, line.right))
            except LinkwrightError as error:
                self.errors.append(error)
                found = [
                    meanings.find_meaning(name)
                    for name in names_in_statement_sides((line.left, line.right))
                ]
                self.set_aside_names |= {ours for ours in found if isinstance(ours, str)}
                self.set_aside_findings[i] = self._meaningless_finding(meanings, line, error)
        self.statements = [
            line for i, line in enumerate(self.statements) if i not in self.set_aside_findings
        ]
        self.original_statements = [
            line
            for i, line in enumerate(self.original_statements)
            if i not in self.set_aside_findings
        ]

    def _meaningless_finding(
        self, meanings: SymbolMeanings, line: Statement, error: LinkwrightError
    ) -> Finding:
        """The finding on a name that a family of ours lacks (m3 of m1, m2), which is known to be
        wrong."""
        pair = (line.left, line.right)
        common = Finding(
            line.number,
            statement_text(pair),
            UNREADABLE,
            note=str(error),
            is_said_wrong=line.is_said_wrong,
        )
        own = self.vocabulary
        strays = [
            name for name in sorted(meanings.names_behind_sides(pair)) if own.is_stray_name(name)
        ]
        if not strays or any(
            meanings.find_meaning(x) is None and x not in strays
            for x in names_in_statement_sides(pair)
        ):
            return common
        listed = " and ".join(f"{name} does not exist" for name in strays)
        found = repair_stray_names(meanings, pair, strays)
        read = inferred_names_of_statement(meanings, pair, self.guessed_names)
        return replace(common, status=DIFFERS, note=listed, repairs=found, inferred_names=read)

    @cached_property
    def meanings(self) -> SymbolMeanings:
        """The meanings of all names in this section of the text."""
        return SymbolMeanings(self.vocabulary, self.statements, self.given_names)

    def split_dual_statements(self) -> list[Statement]:
        """Split equations of dual numbers into equations of numbers, and return the original of
        each part."""
        used = set().union(
            *(names_in_expression(x.left) | names_in_expression(x.right) for x in self.statements)
        )
        said = {str(x) for x in self.given_names.values()}
        owners = self.vocabulary.frame_names
        if DUAL_UNIT_NAME in self.vocabulary.mechanism_symbols:
            return self.statements
        theirs = {single_name_of_statement_side(x.left) for x in self.statements if x.is_definition}
        duals = {name for name in (used | said) - theirs if is_dual_symbol_name(name, owners)}
        if DUAL_UNIT_NAME not in used and not any(
            is_dual_vector_symbol(name, owners) for name in duals
        ):
            return self.statements
        inlined = [
            x
            for x in self.statements
            if x.is_definition and DUAL_UNIT_NAME in names_in_expression(x.right)
        ]
        kept = [line for line in self.statements if line not in inlined]
        own = {name: name for name in duals & used} | self.given_names
        self.dual_meanings = SymbolMeanings(self.vocabulary, self.statements, own)
        self.vocabulary.set_generalized_speeds(
            self._generalized_speeds(), self.dual_meanings.find_meaning
        )
        groups = [self._split_dual_statement(line, owners) for line in kept]
        self.statements = [part for group in groups for part in group]
        self.original_statements = [
            line for group, line in zip(groups, kept, strict=True) for _ in group
        ]
        return self.original_statements

    def _split_dual_statement(self, line: Statement, owners: FrameNames) -> list[Statement]:
        """The parts of one equation; the equation itself where it cannot be split."""
        assert self.dual_meanings is not None
        try:
            return split_dual_statement(line, self.dual_meanings.find_meaning, owners)
        except ExpressionError as error:
            self.unsplit_errors[id(line)] = error
            return [line]

    def _generalized_speeds(self) -> list[Expression]:
        """u1, u2, …, one for each degree of freedom, where the text or the file defines them."""
        own = self.vocabulary.names
        count = len(own.independent) if own.constraints else own.nv
        assert self.dual_meanings is not None
        of_file = {f"u{i}": Name(x) for i, x in enumerate(self.vocabulary.file_speeds, 1)}
        defined = of_file | self.dual_meanings.definitions
        speeds = [defined.get(f"u{i + 1}") for i in range(count)]
        return [x for x in speeds if x is not None] if None not in speeds else []

    def merge_dual_findings(self, parts: list[Finding], origins: list[Statement]) -> list[Finding]:
        """One finding for each equation as the text has it: it differs where a part of it does."""
        found, lines = [], []
        pairs = zip(parts, origins, strict=True)
        for _, group in groupby(pairs, key=lambda pair: id(pair[1])):
            own = list(group)
            worst, origin = min(
                own, key=lambda part: _VERDICT_SEVERITY.get(part[0].status, len(_VERDICT_SEVERITY))
            )
            if len(own) > 1:
                pair = (origin.left, origin.right)
                chance = sum(x.chance for x, _ in own)
                read = {name: ours for x, _ in own for name, ours in x.inferred_names.items()}
                worst = replace(
                    worst, equation=statement_text(pair), chance=chance, inferred_names=read
                )
                if worst.status == DIFFERS:
                    worst = replace(worst, repairs=find_dual_repairs(self, pair))
            found.append(worst)
            lines.append(origin)
        return [hide_checker_names(x) for x in blame_definitions(self, found, lines)]

    @cached_property
    def needed_names(self) -> list[str]:
        """Our names that the text needs, and all that repairs may need."""
        used = self.meanings.needed_names(
            x for line in self.statements for x in (line.left, line.right)
        )
        own = self.vocabulary.names
        motion = [f"{dots}{name}" for name in own.qd for dots in ("", "d", "dd")]
        motion = [name for name in motion if name in self.vocabulary]
        hidden = self.vocabulary.hidden_parameters
        known = [name for name in self.vocabulary.parameters if name not in hidden]
        return list(dict.fromkeys([*used, *motion, *known]))

    @cached_property
    def used_names(self) -> list[str]:
        """Our names that the text has, also in equations that cannot be judged."""
        used = self.meanings.needed_names(
            x for line in self.statements for x in (line.left, line.right)
        )
        return [*used, *sorted(self.set_aside_names - set(used))]

    @cached_property
    def assumption_choices(self) -> list[CheckAssumptions]:
        """The possible assumptions, fewest first."""
        return AssumptionFinder(
            self.meanings, self.statements, self.used_names
        ).assumption_choices()

    @cached_property
    def provers(self) -> list[EquationProver]:
        """One prover for each choice of assumptions, fewest assumptions first."""
        return [
            EquationProver(self.meanings, self.needed_names, setting)
            for setting in self.assumption_choices
        ]

    # -- verdicts ---------------------------------------------------------------------------

    def judge_all_statements(self) -> list[Finding]:
        """Judge all equations, including those that were set aside."""
        judged = iter(self.judge_statements() if self.statements else [])
        count = len(self.statements) + len(self.set_aside_findings)
        return [
            self.set_aside_findings[i] if i in self.set_aside_findings else next(judged)
            for i in range(count)
        ]

    def judge_statements(self) -> list[Finding]:
        """The findings on all equations of the section, in their order."""
        pairs = [(line.left, line.right) for line in self.statements]
        proofs, under = self._prove_under_assumptions(pairs)
        self.proofs = proofs
        rows = equivalent_coriolis_rows(self, proofs)
        found = []
        for i, (line, proof) in enumerate(zip(self.statements, proofs, strict=True)):
            assumed = relevant_assumptions(self.meanings, pairs[i], under[i]) if proof.holds else ""
            common = Finding(
                line.number,
                statement_text(pairs[i]),
                IDENTICAL,
                proof.chance,
                str(assumed),
                is_said_wrong=line.is_said_wrong,
                inferred_names=inferred_names_of_statement(
                    self.meanings, pairs[i], self.guessed_names
                ),
            )
            if i in self.meanings.defining_statements:
                note = "nothing uses it" if i in self.meanings.unused_definitions else ""
                found.append(replace(common, status=DEFINITION, chance=0.0, under="", note=note))
            elif proof.holds:
                found.append(replace(common, note=rows[i][0] if i in rows else ""))
            elif proof.holds is None:
                found.append(replace(common, status=UNDECIDED, note=proof.why, under=""))
            else:
                found.append(self._judge_failing_statement(common, i, rows))
        return found

    def _prove_under_assumptions(
        self, pairs: list[EquationSides]
    ) -> tuple[list[EquationProof], list[CheckAssumptions]]:
        """The first setting under which each holds; that of the fewest assumptions if none."""
        proofs = [EquationProof(None)] * len(pairs)
        under = [CheckAssumptions()] * len(pairs)
        left = [i for i in range(len(pairs)) if i not in self.meanings.defining_statements]
        for prover in self.provers:
            tried = prover.prove_statements([pairs[i] for i in left]) if left else []
            for i, proof in zip(left, tried, strict=True):
                if proof.holds or proofs[i].holds is None:
                    proofs[i], under[i] = proof, prover.assumptions
            left = [i for i in left if not proofs[i].holds]
        self._drop_needless_assumptions(pairs, proofs, under)
        return proofs, under

    def _drop_needless_assumptions(
        self, pairs: list[EquationSides], proofs: list[EquationProof], under: list[CheckAssumptions]
    ) -> None:
        """Prove equations that hold for some values of parameters without these, where possible."""
        at = [i for i, proof in enumerate(proofs) if proof.holds and under[i].parameter_values]
        if not at:
            return
        prover = EquationProver(self.meanings, self.needed_names, CheckAssumptions())
        for i, proof in zip(at, prover.prove_statements([pairs[i] for i in at]), strict=True):
            if proof.holds:
                proofs[i], under[i] = proof, prover.assumptions

    def _judge_failing_statement(
        self, common: Finding, i: int, rows: Mapping[int, tuple[str, float]]
    ) -> Finding:
        line = self.statements[i]
        pair = (line.left, line.right)
        prover = self.provers[0]
        if i in rows:
            note, chance = rows[i]
            return replace(common, status=EQUIVALENT, note=note, chance=chance, under="")
        proof = prove_equivalence(self, pair, prover)
        if proof.holds is not False:
            status = EQUIVALENT if proof.holds else UNDECIDED
            return replace(common, status=status, note=proof.why, chance=proof.chance, under="")
        if doubt := self.vocabulary.ambiguity_sentence(names_in_statement_sides(pair)):
            return replace(common, status=UNDECIDED, note=doubt, under="")
        apart = statement_difference(self.meanings, pair, prover.assumptions)
        is_part = bool(self.original_statements) and self.original_statements[i] is not line
        found = () if is_part else find_repairs(self, pair, apart)
        text = apart.shortened_text() if apart is not None else ""
        note = proof.why or residual_names_sentence(self.meanings, pair)
        return replace(common, status=DIFFERS, under="", note=note, repairs=found, difference=text)

    # -- all together -----------------------------------------------------------------------

    def inferred_names(self) -> dict[str, str]:
        """Names of theirs that were not said, and are none of ours."""
        found = dict(self.guessed_names)
        for name in sorted(self.meanings.text_names):
            meaning = self.meanings.find_meaning(name)
            if not isinstance(meaning, str) or name in self.given_names or meaning == name:
                continue
            if latex_name_of_label(meaning).replace("_", "") != name.replace("_", ""):
                found[name] = meaning
        return found

    def name_collisions(self) -> list[str]:
        """The meaning of names that the mechanism and papers both have."""
        ours = [
            name
            for name in sorted(self.meanings.text_names)
            if self.meanings.find_meaning(name) == name
        ]
        return [text for name in ours if (text := self.vocabulary.collision_sentence(name))]

    def determined_accelerations_note(self) -> str:
        """Whether the equations that hold determine the motion."""
        pairs = [
            (line.left, line.right)
            for line, proof in zip(self.statements, self.proofs, strict=True)
            if proof.holds
        ]
        nv = self.vocabulary.names.nv
        if not pairs or self.vocabulary.names.constraints or "qdd" not in self.vocabulary.inputs:
            return ""
        try:
            rest, *columns = (
                self.provers[0].perturbed_residuals(pairs, i) for i in (None, *range(nv))
            )
        except ArithmeticError:
            return ""
        rows = [[c[k] - rest[k] for c in columns] for k in range(len(pairs))]
        found = rank_modulo(rows, FIELD_PRIME)
        if not found:
            return ""
        if found == nv:
            return f"The equations of motion determine all {nv} accelerations."
        return f"The equations that hold determine {found} of {nv} accelerations."


def names_in_statement_sides(pair: EquationSides) -> frozenset[str]:
    """The names that an equation uses."""
    return names_in_expression(pair[0]) | names_in_expression(pair[1])
