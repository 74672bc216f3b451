"""No false proof, no false alarm: true equations and single misprints of them, drawn by seed.

The judge (tests/references) knows from mechanics of its own which equations are true. The checker
must never call a true one different, nor prove a false one. `make fuzz` draws 10⁴ new cases and
prints the rates of repairs; LINKWRIGHT_SEED repeats a run.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.check.soundness.campaign import Tally, campaign, false_cases, true_cases
from tests.check.soundness.equations import true_equations
from tests.check.soundness.random_subjects import random_subject
from tests.check.soundness.subjects import BUILDERS, Subject, gallery_subject
from tests.check.soundness.verdicts import Outcome, is_false, is_true, run_batch
from tests.references.equation_judge import FALSE, HOLDS, UNKNOWN, judge, parse_equation
from tests.references.equation_notation import equation_text
from tests.references.reference_states import random_state

FUZZ = bool(os.environ.get("LINKWRIGHT_FUZZ"))
SEED = os.environ.get("LINKWRIGHT_SEED") or (str(random.SystemRandom().randrange(10**6)) if FUZZ else "1")  # fmt: skip
RANDOM = [*(("tree", i) for i in range(12)), *((f, i) for f in ("geared", "sleigh", "ball", "slope") for i in (0, 1))]  # fmt: skip


def assert_sound(outcomes: list[Outcome]) -> None:
    problems = [x for x in outcomes if x.problem]
    assert not problems, f"seed {SEED}\n" + "\n".join(map(str, problems))


@pytest.mark.parametrize("name", BUILDERS)
def test_true_equations_of_the_gallery_are_not_refuted_and_misprints_not_proved(name: str) -> None:
    assert_sound(campaign(gallery_subject(name), SEED, 5, 6))


@pytest.mark.parametrize(("family", "i"), RANDOM)
def test_random_mechanisms_with_names_that_collide(family: str, i: int) -> None:
    assert_sound(campaign(random_subject(family, f"{SEED}.{i}"), SEED, 4, 4))


@pytest.mark.parametrize("name", BUILDERS)
def test_equations_of_one_text_do_not_spoil_each_other(name: str) -> None:
    subject = gallery_subject(name)
    cases = list(true_cases(subject, f"text {SEED}", 6, plain=True))
    wrong = [x for x in false_cases(subject, f"text {SEED}", 4) if x.spelled.kind == "plain"]
    assert_sound(run_batch([*cases, *wrong[:1]]))


# -- the judge itself ---------------------------------------------------------------------------


def unconfirmed(subject: Subject) -> list[str]:
    found = true_equations(subject)
    assert len(found) > 10
    return [equation_text(x) for x in found if not is_true(x, subject.reference)]


@pytest.mark.parametrize("name", BUILDERS)
def test_the_judge_confirms_the_true_equations_of_the_gallery(name: str) -> None:
    assert not unconfirmed(gallery_subject(name))


@pytest.mark.parametrize(("family", "i"), RANDOM)
def test_the_judge_confirms_the_true_equations_of_random_mechanisms(family: str, i: int) -> None:
    assert not unconfirmed(random_subject(family, f"{SEED}.{i}"))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("phi2 = m2*lc2*g*cos(q1 + q2)", HOLDS),
        ("phi2 = m2*lc2*g*cos(q1 - (-q2))", HOLDS),
        ("m2*lc2*g*(2*cos((q1 + q2)/2)^2 - 1)/phi2 = 1", HOLDS),
        ("phi2 = m2*lc2*g*sin(q1 + q2)", FALSE),
        ("phi2 = m2*lc2*g*cos(q1 + q2) + 1/10^30", FALSE),
        ("phi2 = m3*lc2*g*cos(q1 + q2)", UNKNOWN),
        ("phi2*0/0 = 1", UNKNOWN),
    ],
)
def test_the_judge(text: str, verdict: str) -> None:
    reference = gallery_subject("elbow").reference
    states = [random_state(reference, i) for i in range(2)]
    assert judge(parse_equation(text), states) == verdict


@pytest.mark.parametrize("name", ["elbow", "cart-pole", "stanford-rrp", "rolling-disk", "five-bar"])
def test_the_references_obey_lagrange_and_kane(name: str) -> None:
    reference = gallery_subject(name).reference
    for i in range(len(reference.u)):
        assert reference.row(i) == reference.kane_row(i)


def test_what_is_false_is_false_whatever_is_assumed() -> None:
    reference = gallery_subject("cart-pole").reference
    composed = "1/2*mp*l*cos(theta)*ddx + 1/{}*mp*l^2*ddtheta + 1/2*mp*g*l*sin(theta) = tau2"
    free = "(mc + mp)*ddx + 1/2*mp*l*(cos(theta)*ddtheta {} sin(theta)*dtheta^2) = 0"
    energy = "V = 1/2*mp*g*l*({} - cos(theta))"
    for text, right, wrong in ((composed, "3", "12"), (free, "-", "+"), (energy, "1", "x")):
        assert not is_false(parse_equation(text.format(right)), reference)
        assert is_false(parse_equation(text.format(wrong)), reference)


def test_the_table_has_all_that_is_counted() -> None:
    tally = Tally()
    tally.add(campaign(gallery_subject("elbow"), "table", 3, 6))
    assert "false proofs" in tally.table()
    assert "% repaired" in tally.table()
