"""Forces along lengths on random trees: their power and their potential."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import linkwright as lw
from tests.random_trees import RandomTree, trees
from tests.references import rigid

SEEDS = st.integers(0, 2**20)
POST = np.array([3.0, -4.0, 5.0])


def tied(tree: RandomTree, law: dict[str, object]) -> lw.Mechanism:
    """The tree with a length from a point of ground over the origins of all bodies, bare of other
    forces."""
    bare = tree.mechanism.without("friction", "damping", "springs", "motors")
    path = ["post", *tree.mechanism.bodies]
    return lw.Mechanism(
        **{key: getattr(bare, key) for key in bare.model_fields_set},
        frames={"post": {"body": "ground", "origin": POST.tolist()}},
        lengths={"rope": {"path": path, **law}},
    )


@settings(max_examples=20, deadline=None)
@given(trees(), SEEDS)
def test_power_of_a_law_is_its_tension_times_the_rate(tree: RandomTree, seed: int) -> None:
    """fᵀ v = −T L̇ and V = ∫ T dL for a cubic law; L and L̇ from the reference's own motions."""
    q, v, _ = tree.state(seed)
    eqs = lw.derive(tied(tree, {"force": "2*(L - 6)^3 + 0.5*Ldot"}), parameters="numeric")
    plain = lw.derive(tied(tree, {}), parameters="numeric")
    motions = rigid.motions(tree.bodies, q, v, 0 * v)
    points = [POST, *(jet.x[:3, 3] for jet in motions)]
    speeds = [0 * POST, *(jet.d[:3, 3] for jet in motions)]
    spans, rates = np.diff(points, axis=0), np.diff(speeds, axis=0)
    lengths = np.linalg.norm(spans, axis=1)
    assume(lengths.min() > 1e-3)
    L, rate = lengths.sum(), float(np.sum(spans * rates / lengths[:, None]))
    tension = 2 * (L - 6) ** 3 + 0.5 * rate
    force = np.asarray(eqs.function("passive")(q, v)).ravel()
    assert abs(force @ v + tension * rate) <= 1e-10 * max(1.0, abs(tension) * np.abs(rates).sum())
    V = [float(x.function("potential_energy")(q)) for x in (eqs, plain)]
    wanted = ((L - 6) ** 4 - 6.0**4) / 2
    assert abs(V[0] - V[1] - wanted) <= 1e-11 * max(1.0, L**4)
