"""Names that a family of the mechanism's does not have: m3 where there are m1 and m2."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from ..errors import LinkwrightError
from ..expressions import to_text
from ..expressions.calculus import renamed
from .meaning import Meanings
from .points import Setting
from .prover import Pair, Prover
from .report import Repair

MOST_CHOICES = 200


def stray_repairs(meanings: Meanings, pair: Pair, strays: Sequence[str]) -> tuple[Repair, ...]:
    """The members of the families with which an equation holds, if there are any."""
    own = meanings.vocabulary
    families = [own.family_of(name) for name in strays]
    found = []
    for count, chosen in enumerate(product(*families)):
        if count >= MOST_CHOICES:
            break
        change = dict(zip(strays, chosen, strict=True))
        left, right = (renamed(side, lambda name: change.get(name, name)) for side in pair)  # noqa: B023
        if left != right and _holds(meanings, (left, right)):
            what = " and ".join(f"{theirs} is {ours}" for theirs, ours in change.items())
            found.append(Repair("index", what, f"{to_text(left)} = {to_text(right)}"))
    return tuple(found)


def _holds(meanings: Meanings, pair: Pair) -> bool:
    try:
        wanted = meanings.wanted(pair)
    except LinkwrightError:
        return False
    return Prover(meanings, wanted, Setting()).holds(pair)
