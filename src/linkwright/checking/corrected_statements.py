"""Equations after the correction of one misprint: how likely they are, and whether they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..expressions import Expression, expression_text, names_in_expression
from .check_report import Repair
from .misprint_candidates import MISPRINT_KINDS, MisprintCandidate, stem_of_text_name
from .node_paths import count_statement_nodes
from .prover import EquationProver, EquationSides
from .repair_trial import RepairTrial
from .residue_keys import negate_repair_key

MAX_REPAIRS = 3
COINCIDENTAL_MISPRINT_KINDS = ("missing angle", "symbol", "missing factors")
"""Kinds that are not worth naming beside a likelier one."""


@dataclass(frozen=True)
class CorrectedStatement:
    """An equation after the correction of one slip; `rank` counts what makes it unlikely."""

    kind: str
    what: str
    sides: EquationSides
    rank: int = 0
    unfamiliar_names: int = 0

    @property
    def likelihood_order(self) -> tuple[int, int, int, int]:
        """The sort key of repairs, the likeliest first."""
        return (
            self.rank,
            MISPRINT_KINDS.index(self.kind),
            self.unfamiliar_names,
            sum(map(count_statement_nodes, self.sides)),
        )

    def to_repair(self) -> Repair:
        """The repair as the report lists it."""
        return Repair(self.kind, self.what, statement_text(self.sides))


def count_unfamiliar_names(new: Expression, pair: EquationSides) -> int:
    """The number of names in a correction that are neither in the equation nor similar to one in
    it."""
    own = names_in_expression(pair[0]) | names_in_expression(pair[1])
    stems = {stem_of_text_name(x) for x in own}
    return sum(
        (x not in own) + (stem_of_text_name(x) not in stems) for x in names_in_expression(new)
    )


def correct_statement_side(
    pair: EquationSides, k: int, candidate: MisprintCandidate
) -> EquationSides:
    """The equation with a misprint of its left (k = 0) or right side corrected."""
    new = candidate.apply_correction(pair[k])
    return (new, pair[1]) if k == 0 else (pair[0], new)


def prove_corrections(
    trial: RepairTrial, prover: EquationProver, found: Sequence[CorrectedStatement]
) -> tuple[Repair, ...]:
    """The likeliest, and others that are as likely, but no coincidences beside them."""
    kept: list[Repair] = []
    seen: set[tuple[int, ...]] = set()
    for one in sorted(found, key=lambda x: x.likelihood_order):
        if len(kept) == MAX_REPAIRS or (
            kept and (one.rank or one.kind in COINCIDENTAL_MISPRINT_KINDS)
        ):
            break
        value = trial.random_residual_key(one.sides)
        if is_trivial_statement(one.sides, value) or value in seen:
            continue
        if trial.is_proved(prover, one.sides):
            kept.append(one.to_repair())
        if value is not None:
            seen |= {value, tuple(x or 0 for x in negate_repair_key(value))}
    return tuple(kept)


def is_trivial_statement(pair: EquationSides, value: Sequence[int] | None) -> bool:
    """Whether an equation holds whatever the mechanism is."""
    return pair[0] == pair[1] or (value is not None and not any(value))


def statement_text(pair: EquationSides) -> str:
    """The equation as text: left = right."""
    return f"{expression_text(pair[0])} = {expression_text(pair[1])}"
