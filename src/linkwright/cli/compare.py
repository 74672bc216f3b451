"""`linkwright compare`: formulations on one mechanism, or against the number of links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ..comparison import Comparison, Scaling, compare, scaling
from ..comparison.output import check_ending
from ..comparison.size_scaling import MOST, sizes_between
from ..errors import LinkwrightError
from ..mechanism import Mechanism
from .show import emit_json, working


def run(
    mechanism: Mechanism | None,
    links: str | None,
    by: Sequence[str] | None,
    duration: float,
    budget: float,
    outputs: Sequence[Path],
    as_json: bool,
) -> None:
    if (mechanism is None) == (links is None):
        raise LinkwrightError(
            "compare needs a FILE or --links, and not both", remedy="give one of them"
        )
    for option, value in (("--time", duration), ("--budget", budget)):
        if not 0 < value < 1e6:
            raise LinkwrightError(
                f"{option} {value:g} is no duration", remedy="give seconds above 0"
            )
    for path in outputs:
        check_ending(path)
    found: Comparison | Scaling
    if mechanism is not None:
        with working(f"comparing formulations of {mechanism.name}"):
            found = compare(mechanism, by, duration, budget)
    else:
        with working("comparing formulations") as said:
            found = scaling(numbers(links or ""), by, duration, budget, said)
    for path in outputs:
        found.save(path)
    emit_json(asdict(found)) if as_json else print(found)


def numbers(text: str) -> list[int]:
    """Numbers of links: 2-30, or 2,4,8."""
    if re.fullmatch(r"\d{1,4}-\d{1,4}", text):
        first, last = map(int, text.split("-"))
        if 1 <= first < last <= MOST:
            return sizes_between(first, last)
    elif re.fullmatch(r"\d{1,4}(,\d{1,4})*", text):
        found = list(map(int, text.split(",")))
        if min(found) >= 1 and max(found) <= MOST:
            return found
    raise LinkwrightError(
        f"--links {text} are no numbers of links", remedy=f"write 2-30 or 2,4,8, from 1 to {MOST}"
    )
