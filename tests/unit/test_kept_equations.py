"""Equal mechanisms are derived once; whatever differs is derived for itself."""

from __future__ import annotations

import pytest

import linkwright as lw
from linkwright.errors import NameNotFoundError
from linkwright.formulations import (
    MAX_KEPT_EQUATIONS,
    MAX_KEPT_LARGE_EQUATIONS,
    _derive_large_once,
    _derive_once,
    derive_uncached,
)
from linkwright.kinematics.tree_builder import (
    _build_tree_once,
    build_kinematic_tree,
    trees_built_afresh,
)
from linkwright.tape import record_tape


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


def test_nobody_changes_the_equations_of_others() -> None:
    elbow = lw.gallery("elbow")
    eqs = lw.derive(elbow, by="hamilton")
    made = [eqs.M, *eqs.expressions("bias"), eqs.symbols["q"], eqs.extra("momenta")]
    before = [str(expression) for expression in made]
    for expression in made:
        expression[0] = 7
    with pytest.raises(TypeError):
        eqs.parameters["m1"] = 7  # type: ignore[index]
    with pytest.raises(TypeError):
        eqs.symbols["q"] = eqs.symbols["qd"]  # type: ignore[index]
    again = lw.derive(elbow, by="hamilton")
    found = [again.M, *again.expressions("bias"), again.symbols["q"], again.extra("momenta")]
    assert [str(expression) for expression in found] == before


def test_nobody_changes_the_tables_of_others() -> None:
    eqs = lw.derive(lw.gallery("elbow"), by="kane")
    eqs.extra("partial_velocities").clear()
    assert eqs.extra("partial_velocities")


def test_fewer_equations_of_large_mechanisms_are_kept() -> None:
    chain = lw.gallery("chain-16")
    for k in range(MAX_KEPT_LARGE_EQUATIONS + 1):
        lw.derive(chain.model_copy(update={"name": f"chain{k}"}), parameters="numeric")
    assert _derive_large_once.cache_info().currsize == MAX_KEPT_LARGE_EQUATIONS


def test_what_is_no_name_is_explained_also_by_the_cache() -> None:
    with pytest.raises(NameNotFoundError, match="did you mean 'kane'"):
        lw.derive(lw.gallery("elbow"), by=["kane"])  # type: ignore[arg-type]


def test_the_values_of_a_shared_mechanism_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        lw.gallery("elbow").values["m1"] = 7  # type: ignore[index]


def test_trees_of_equal_mechanisms_are_built_once() -> None:
    elbow = lw.gallery("elbow")
    tree = build_kinematic_tree(elbow, "symbolic")
    assert build_kinematic_tree(elbow, "symbolic") is tree
    assert build_kinematic_tree(elbow, "numeric") is not tree
    again = elbow.model_copy()
    shared = build_kinematic_tree(again, "symbolic")
    assert shared.mechanism is again
    assert shared.links is tree.links
    assert build_kinematic_tree(elbow.with_parameters(m1=7), "symbolic").links is not tree.links
    assert build_kinematic_tree(elbow, ["m1"]) is build_kinematic_tree(elbow, ("m1",))


def test_what_is_timed_builds_its_tree() -> None:
    elbow = lw.gallery("elbow")
    tree = build_kinematic_tree(elbow)
    with trees_built_afresh():
        assert build_kinematic_tree(elbow) is not tree
    assert build_kinematic_tree(elbow) is tree
    built = _build_tree_once.cache_info().misses
    derive_uncached(elbow.with_parameters(m1=8), by="newton_euler")
    assert _build_tree_once.cache_info().misses == built


def test_equations_that_share_a_tree_are_those_of_trees_apart() -> None:
    for name in ("elbow", "four-bar"):
        mechanism = lw.gallery(name)
        for by in ("recursive", "lagrange", "kane"):
            shared, apart = lw.derive(mechanism, by=by), derive_uncached(mechanism, by=by)
            for function in ("mass_matrix", "bias"):
                one, other = (record_tape(eqs.function(function)) for eqs in (shared, apart))
                assert one.digest == other.digest
