"""No false proof, no false alarm: true equations and single misprints of them, drawn by seed.

The judge (tests/references) knows which equations are true, from mechanics of its own; the checker
must never call a true one different, nor prove a false one. `make fuzz` draws 10⁴ new cases;
LINKWRIGHT_SEED repeats a run.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest

from tests.check.soundness.campaign import Tally, campaign
from tests.check.soundness.equations import true_equations
from tests.check.soundness.subjects import BUILDERS, gallery_subject
from tests.check.soundness.verdicts import generic_states, is_true
from tests.references.equation_notation import equation_text

FUZZ = bool(os.environ.get("LINKWRIGHT_FUZZ"))
SEED = os.environ.get("LINKWRIGHT_SEED") or (str(random.SystemRandom().randrange(10**9)) if FUZZ else "1")  # fmt: skip


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    found = Tally()
    yield found
    print(f"\nseed {SEED}\n{found.table()}")


@pytest.mark.parametrize("name", BUILDERS)
def test_the_judge_confirms_the_true_equations(name: str) -> None:
    subject = gallery_subject(name)
    assert generic_states(subject.reference)
    wrong = [equation_text(x) for x in true_equations(subject) if not is_true(x, subject.reference)]
    assert not wrong


@pytest.mark.parametrize("name", BUILDERS)
def test_gallery(name: str, tally: Tally) -> None:
    found = campaign(gallery_subject(name), SEED, 300 if FUZZ else 8, 300 if FUZZ else 10)
    tally.add(found)
    problems = [x for x in found if x.problem]
    assert not problems, f"seed {SEED}\n" + "\n".join(map(str, problems))
