"""Names that a family of the mechanism's does not have: m3 where there are m1 and m2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from ..errors import LinkwrightError
from ..expressions import expression_text
from ..expressions.calculus import rename_expression_names
from .check_report import Repair
from .motion_sampler import CheckAssumptions
from .prover import EquationProver, EquationSides
from .symbol_meanings import SymbolMeanings

MAX_STRAY_CHOICES = 200


def repair_stray_names(
    meanings: SymbolMeanings, pair: EquationSides, strays: Sequence[str]
) -> tuple[Repair, ...]:
    """The members of the families with which an equation holds, if there are any."""
    own = meanings.vocabulary
    families = [own.family_members(name) for name in strays]
    found = []
    for count, chosen in enumerate(product(*families)):
        if count >= MAX_STRAY_CHOICES:
            break
        change = dict(zip(strays, chosen, strict=True))
        chosen_names = partial(_changed_name, change)
        left, right = (rename_expression_names(side, chosen_names) for side in pair)
        if left != right and _is_statement_proved(meanings, (left, right)):
            what = " and ".join(f"{theirs} is {ours}" for theirs, ours in change.items())
            found.append(
                Repair("index", what, f"{expression_text(left)} = {expression_text(right)}")
            )
    return tuple(found)


def _is_statement_proved(meanings: SymbolMeanings, pair: EquationSides) -> bool:
    try:
        wanted = meanings.needed_names(pair)
    except LinkwrightError:
        return False
    return EquationProver(meanings, wanted, CheckAssumptions()).holds(pair)


def _changed_name(change: Mapping[str, str], name: str) -> str:
    """The name that a stray name is taken for, or the name itself."""
    return change.get(name, name)
