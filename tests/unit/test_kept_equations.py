"""Equal mechanisms are derived once; whatever differs is derived for itself."""

from __future__ import annotations

import linkwright as lw
from linkwright.formulations import MAX_KEPT_EQUATIONS, _derive_once, derive_uncached


def test_equal_mechanisms_share_their_equations() -> None:
    one, other = (lw.gallery("elbow").with_parameters(m1="1.25") for _ in range(2))
    assert one is not other
    eqs = lw.derive(one, by="kane", parameters=["m1"])
    assert lw.derive(other, by="kane", parameters=("m1",)) is eqs
    assert eqs.function("bias") is eqs.function("bias")
    assert eqs.function_at_values("bias") is eqs.function_at_values("bias")
    assert eqs.function_at_values("bias", keep=["m1"]) is eqs.function("bias")


def test_what_differs_is_derived_for_itself() -> None:
    elbow = lw.gallery("elbow")
    eqs = lw.derive(elbow)
    assert eqs is not lw.derive(elbow, by="kane")
    assert eqs is not lw.derive(elbow, parameters="numeric")
    assert lw.derive(elbow, parameters=["m1"]) is not lw.derive(elbow, parameters=["m2"])
    assert float(lw.derive(elbow.with_parameters(m1=7)).parameters["m1"]) == 7
    unread = elbow.model_copy(update={"unused": ("link1/visual",)})
    assert lw.derive(unread).mechanism.unused == ("link1/visual",)


def test_a_derivation_afresh_is_not_a_kept_one() -> None:
    elbow = lw.gallery("elbow")
    assert derive_uncached(elbow) is not lw.derive(elbow)
    assert derive_uncached(elbow) is not derive_uncached(elbow)


def test_only_the_most_recent_equations_are_kept() -> None:
    elbow = lw.gallery("elbow")
    for k in range(MAX_KEPT_EQUATIONS + 3):
        lw.derive(elbow.with_parameters(m1=k + 1), parameters="numeric")
    assert _derive_once.cache_info().currsize == MAX_KEPT_EQUATIONS
