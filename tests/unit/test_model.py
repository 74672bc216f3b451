"""Models: names, sizes, parameters kept as inputs, pickling, and what is refused."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, NameNotFoundError, UnsupportedError
from linkwright.formulations import derive_uncached
from linkwright.quantities import FRAME_SIGNATURES, SIGNATURES

ELBOW = lw.compile(lw.gallery("elbow"))


def test_names_and_sizes() -> None:
    model = lw.compile(lw.gallery("quadruped"))
    assert (model.nq, model.nv) == (19, 18)
    assert model.q_names[:8] == (
        "trunk.x", "trunk.y", "trunk.z", "trunk.qw", "trunk.qx", "trunk.qy", "trunk.qz", "lf_abduction",
    )  # fmt: skip
    assert model.qd_names[:7] == (
        "trunk.wx", "trunk.wy", "trunk.wz", "trunk.vx", "trunk.vy", "trunk.vz", "lf_abduction",
    )  # fmt: skip
    assert model.joint_names[0] == "trunk"
    assert len(model.body_names) == 13
    assert model.neutral()[3] == 1
    assert "nq=19" in repr(model)


def test_the_ufunc_of_a_function_is_at_hand() -> None:
    assert isinstance(ELBOW.ufunc("inverse_dynamics"), np.ufunc)
    assert isinstance(ELBOW.ufunc("placement", "tool"), np.ufunc)
    assert ELBOW.inverse_dynamics is ELBOW.inverse_dynamics
    assert "inverse_dynamics" in vars(ELBOW), "one call of Python between the caller and the code"
    assert ELBOW.placement("tool") is ELBOW.placement("tool")
    assert ELBOW.inverse_dynamics.signature == "(2),(2),(2)->(2)"
    assert ELBOW.kinetic_energy.signature == "(2),(2)->()"
    assert "M q̈ + C q̇ + g" in (ELBOW.inverse_dynamics.__doc__ or "")
    assert "inverse_dynamics" in dir(ELBOW)


def test_every_function_of_the_table_exists_and_has_its_shape() -> None:
    rng = np.random.default_rng(0)
    for name in SIGNATURES:
        function = getattr(ELBOW, name)
        core = function.signature.split("->")[0]
        shapes = [tuple(int(n) for n in part.split(",") if n) for part in core[1:-1].split("),(")]
        results = function(*(rng.uniform(0.1, 1, (3, *shape)) for shape in shapes))
        for result in results if isinstance(results, tuple) else (results,):
            assert result.shape[0] == 3
            assert np.isfinite(result).all()
    six = lw.compile(lw.gallery("six-axis"))  # operational_inertia needs six degrees of freedom
    for name in FRAME_SIGNATURES:
        model, frame = (
            (six, six.body_names[-1]) if name == "operational_inertia" else (ELBOW, "tool")
        )
        assert isinstance(getattr(model, name)(frame).ufunc, np.ufunc)


def test_one_freedom_keeps_its_axes() -> None:
    """With nv = 1, matrices stay matrices."""
    model = lw.compile(lw.gallery("chain-1"))
    assert model.mass_matrix([0.3]).shape == (1, 1)
    assert model.jacobian("tool")([0.3]).shape == (6, 1)
    assert model.inverse_dynamics([0.1], [0.2], [0.3]).shape == (1,)
    assert np.shape(model.kinetic_energy([0.1], [0.2])) == ()


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="did you mean 'mass_matrix'"):
        ELBOW.mass_matrx  # noqa: B018
    with pytest.raises(NameNotFoundError, match="no frame or body 'tol'; did you mean 'tool'"):
        ELBOW.placement("tol")
    with pytest.raises(NameNotFoundError, match="unknown formulation"):
        lw.derive(lw.gallery("elbow"), by="magic")


def test_parameters_become_inputs_in_the_order_given() -> None:
    arm = lw.gallery("elbow")
    model = lw.compile(arm, parameters=["m2", "g"])
    assert model.inverse_dynamics.signature == "(2),(2),(2),(2)->(2)"
    q, v, a = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    for m2, g in ((1.0, 9.81), (3.0, 1.62)):
        other = lw.compile(arm.with_parameters(m2=m2, g=g))
        np.testing.assert_allclose(
            model.inverse_dynamics(q, v, a, [m2, g]), other.inverse_dynamics(q, v, a), rtol=1e-13
        )
    assert model.nominal_parameters.tolist() == [1.0, 9.81]
    assert model.placement("tool")(q, [1.0, 9.81]).shape == (4, 4)


def test_parameters_that_depend_on_kept_ones_follow_them() -> None:
    """I2 = m2·l2²/12 in the elbow's file: keeping m2 keeps that."""
    model = lw.compile(lw.gallery("elbow"), parameters=["m2"])
    light, heavy = (model.mass_matrix([0.0, 0.0], [m])[1, 1] for m in (1.0, 2.0))
    assert heavy == pytest.approx(2 * light)


def test_numbers_without_a_name_can_be_kept_by_their_place() -> None:
    arm = lw.gallery("seven-axis")
    model = lw.compile(arm, parameters=["m3", "cz7", "g"])
    assert model.nominal_parameters.tolist() == [3.0, 0.02, 9.81]
    q = np.linspace(0.1, 0.7, 7)
    np.testing.assert_allclose(
        model.gravity(q, model.nominal_parameters), lw.compile(arm).gravity(q), atol=1e-14
    )
    with pytest.raises(NameNotFoundError, match="'m9' is not a parameter"):
        lw.compile(arm, parameters=["m9"])
    with pytest.raises(NameNotFoundError, match="has no effect"):
        lw.compile(lw.gallery("cartesian").without("gravity"), parameters=["g"])


def test_symbolic_and_numeric_derivations_are_one() -> None:
    for name in ("six-axis", "puma560", "stanford", "quadruped"):
        arm = lw.gallery(name)
        symbolic = lw.compile(lw.derive(arm))
        numeric = lw.compile(arm)
        rng = np.random.default_rng(0)
        q = numeric.integrate(numeric.neutral(), rng.uniform(-1, 1, numeric.nv))
        v, a = rng.uniform(-1, 1, (2, numeric.nv))
        wanted = numeric.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(
            symbolic.inverse_dynamics(q, v, a), wanted, rtol=0, atol=1e-12 * abs(wanted).max()
        )


def test_some_symbols_of_derived_equations_can_stay_inputs() -> None:
    eqs = lw.derive(lw.gallery("elbow"))
    model = lw.compile(eqs, parameters=["l1"])
    short = model.gravity([0.0, 0.0], [0.5])
    long = model.gravity([0.0, 0.0], [1.0])
    assert short[0] < long[0]
    with pytest.raises(NameNotFoundError, match="is not a symbol of these equations"):
        lw.compile(eqs, parameters=["l9"])


def test_pickling_keeps_the_recipe() -> None:
    q = np.array([0.2, 0.3])
    for model in (
        ELBOW,
        lw.compile(lw.gallery("elbow"), parameters=["m1"]),
        lw.compile(lw.derive(lw.gallery("elbow"))),
    ):
        again = pickle.loads(pickle.dumps(model))
        inputs = (q, model.nominal_parameters) if model.parameters else (q,)
        assert (again.gravity(*inputs) == model.gravity(*inputs)).all()


def test_casadi_functions() -> None:
    functions = lw.derive(lw.gallery("elbow"), parameters="numeric").functions()
    assert set(functions) >= {"forward_dynamics", "inverse_dynamics", "mass_matrix"}
    tau = functions["inverse_dynamics"]([0.1, 0.2], [0, 0], [0, 0])
    np.testing.assert_allclose(np.asarray(tau).ravel(), ELBOW.gravity([0.1, 0.2]), rtol=1e-14)
    with pytest.raises(KeyError):
        functions["nothing"]
    eqs = lw.derive(lw.gallery("elbow"))
    assert eqs.M.shape == (2, 2)
    assert eqs.g.shape == (2, 1)
    assert eqs.f.shape == (2, 1)
    assert set(eqs.parameters) == {"m1", "m2", "l1", "lc1", "lc2", "l2", "I1", "I2", "g"}


def test_a_mechanism_that_cannot_move() -> None:
    still = lw.gallery("elbow").reduced({"q1": 0, "q2": 0})
    with pytest.raises(UnsupportedError, match="cannot move"):
        lw.compile(still)


def massless() -> lw.Mechanism:
    return lw.Mechanism(
        bodies={"a": {}, "b": {"mass": 1, "center": [0.1, 0, 0], "inertia": [1, 1, 1]}},
        joints={
            "j1": {"type": "revolute", "child": "a"},
            "j2": {"type": "revolute", "child": "b"},
        },
    )


def test_zero_mass_is_legal_and_a_singular_mass_matrix_is_reported_where_it_matters() -> None:
    model = lw.compile(massless())
    assert model.inverse_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])[0] == 0
    for name in (
        "forward_dynamics",
        "forward_dynamics_derivatives",
        "forward_dynamics_with_wrenches",
    ):
        with pytest.raises(UnsupportedError, match="singular: 'j1' can move"):
            getattr(model, name)
    driven = massless().model_dump(exclude_unset=True)
    driven["joints"]["j1"]["motor"] = {"inertia": 0.01}
    with_rotor = lw.compile(lw.Mechanism(**driven))
    assert np.isfinite(with_rotor.forward_dynamics([0.0, 0.0], [0.0, 0.0], [1.0, 1.0])).all()


def test_massless_mechanisms_have_no_mass_centre() -> None:
    model = lw.compile(
        lw.Mechanism(
            bodies={"a": {}},
            joints={"j": {"type": "revolute", "child": "a", "motor": {"inertia": 1}}},
        )
    )
    with pytest.raises(LinkwrightError, match="no mass"):
        model.center_of_mass  # noqa: B018


def test_friction_follows_the_convention() -> None:
    """F·sign(q̇) with sign(0) = 0; tanh where a smoothing speed is stated."""
    fields = {
        "bodies": {"a": {"mass": 1, "inertia": [1, 1, 1]}},
        "joints": {"j": {"type": "revolute", "child": "a", "friction": 0.7, "damping": 0.2, "stiffness": 3, "rest": 0.5}},
        "gravity": [0, 0, 0],
    }  # fmt: skip
    model = lw.compile(lw.Mechanism(**fields))
    assert model.passive([0.5], [0.0]) == 0
    assert model.passive([1.5], [2.0]) == pytest.approx(-0.7 - 0.4 - 3.0)
    assert model.passive([0.5], [-2.0]) == pytest.approx(0.7 + 0.4)
    assert model.bias([1.5], [2.0]) == pytest.approx(4.1)
    assert model.potential_energy([1.5]) == pytest.approx(1.5)
    fields["joints"]["j"]["smoothing"] = 0.1
    smooth = lw.compile(lw.Mechanism(**fields))
    assert smooth.passive([0.5], [0.05]) == pytest.approx(-0.7 * np.tanh(0.5) - 0.01)


def test_mimicry_carries_losses_springs_and_rotors() -> None:
    """A follower q2 = −2 q1 + 0.3 by virtual work on the same tree without mimicry."""
    joint = {
        "type": "revolute",
        "damping": 0.3,
        "friction": 0.2,
        "stiffness": 1.5,
        "rest": 0.1,
        "motor": {"ratio": 3, "inertia": 0.02},
    }
    fields = {
        "bodies": {"a": {"mass": 1, "center": [0.3, 0, 0], "inertia": [1, 1, 1]}, "b": {"mass": 2, "center": [0.2, 0, 0], "inertia": [1, 1, 1]}},
        "joints": {"q1": {**joint, "child": "a"}, "q2": {**joint, "parent": "a", "child": "b", "origin": [1, 0, 0], "axis": [0, 1, 0]}},
    }  # fmt: skip
    free = lw.compile(lw.Mechanism(**fields))
    fields["joints"]["q2"]["mimic"] = {"joint": "q1", "multiplier": -2, "offset": 0.3}
    bound = lw.compile(lw.Mechanism(**fields))
    q, v, a = 0.4, 0.7, -0.2
    G = np.array([1.0, -2.0])
    full = [q, -2 * q + 0.3], G * v, G * a
    assert bound.inverse_dynamics([q], [v], [a])[0] == pytest.approx(
        G @ free.inverse_dynamics(*full)
    )
    assert bound.mass_matrix([q])[0, 0] == pytest.approx(G @ free.mass_matrix(full[0]) @ G)
    assert bound.kinetic_energy([q], [v]) == pytest.approx(free.kinetic_energy(*full[:2]))
    assert bound.potential_energy([q]) == pytest.approx(free.potential_energy(full[0]))
    tau = bound.inverse_dynamics([q], [v], [a])
    assert bound.forward_dynamics([q], [v], tau)[0] == pytest.approx(a)
    np.testing.assert_allclose(
        bound.jacobian("b")([q]) @ [v], bound.frame_velocity("b")([q], [v]), atol=1e-14
    )


def test_locked_joints_of_every_kind_stand_where_they_are_held() -> None:
    from tests.random_trees import KINDS, random_tree

    for seed, kind in enumerate(k for k in KINDS if k != "fixed"):
        tree = random_tree(
            seed, ["revolute", kind, "revolute"], [0, 1, 2], losses=False, motors=False
        )
        q, _, _ = tree.state(seed)
        held = q[1:-1]
        free = lw.compile(tree.mechanism)
        locked = lw.compile(
            tree.mechanism.reduced({"j1": held.tolist() if len(held) > 1 else held[0]})
        )
        assert locked.nq == 2
        np.testing.assert_allclose(
            locked.placement("b2")(q[[0, -1]]), free.placement("b2")(q), atol=1e-13, err_msg=kind
        )


def heavier(eqs: lw.Equations) -> lw.Equations:
    return dataclasses.replace(eqs, builders={**eqs.builders, "gravity": lambda: 2 * eqs.g})


def test_equations_that_were_changed_are_what_is_compiled() -> None:
    eqs = lw.derive(lw.gallery("elbow"), parameters="numeric")
    q = [0.1, 0.2]
    for first in (eqs, heavier(eqs)):
        lw.compile(first).gravity(q)
    once, twice = lw.compile(eqs).gravity(q), lw.compile(heavier(eqs)).gravity(q)
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-15)


def test_models_of_changed_equations_are_not_pickled_as_others() -> None:
    eqs = lw.derive(lw.gallery("elbow"), parameters="numeric")
    again = pickle.loads(pickle.dumps(lw.compile(eqs)))
    np.testing.assert_array_equal(again.gravity([0.1, 0.2]), ELBOW.gravity([0.1, 0.2]))
    with pytest.raises(UnsupportedError, match="cannot be pickled"):
        pickle.dumps(lw.compile(heavier(eqs)))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"threads": -1}, "threads cannot be -1"),
        ({"threads": 0}, "threads cannot be 0"),
        ({"threads": 1.5}, r"threads cannot be 1\.5"),
        ({"threads": "2"}, "threads cannot be '2'"),
        ({"parameters": ["m1", "m1"]}, "'m1' is kept twice"),
        ({"parameters": [3]}, r"parameters\[0\] is 3"),
    ],
)
def test_options_are_checked_at_once(options: dict, what: str) -> None:
    with pytest.raises(LinkwrightError, match=what):
        lw.compile(lw.gallery("elbow"), **options)


def test_only_mechanisms_and_equations_are_compiled() -> None:
    with pytest.raises(LinkwrightError, match="a str is not a mechanism; write load"):
        lw.compile("elbow.toml")  # type: ignore[arg-type]


def test_long_chains_do_without_the_mass_matrix() -> None:
    """Articulated bodies grow with n, factorising with n³: nobody should wait for the latter."""
    eqs = derive_uncached(lw.gallery("chain-60"), parameters="numeric")
    eqs.expressions("forward_dynamics")
    assert ("mass_matrix",) not in eqs._built
    model = lw.compile(eqs)
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-1, 1, (3, 60))
    tau = model.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau), a, rtol=0, atol=1e-6)


@pytest.mark.parametrize("moment", [-5, -1, "-0.3"])
def test_a_negative_moment_of_inertia_is_named(moment: object) -> None:
    """M is indefinite: no singular matrix, and nothing that moves without mass."""
    arm = lw.gallery("elbow").with_parameters(I2=moment)
    model = lw.compile(arm)
    for name in ("forward_dynamics", "forward_dynamics_derivatives"):
        with pytest.raises(UnsupportedError, match="'q2' has negative kinetic energy"):
            getattr(model, name)
    lowest = np.linalg.eigvalsh(model.mass_matrix([0.3, 0.5]))[0]
    assert lowest < 0
    linkage = lw.gallery("four-bar").with_parameters(I2=-50)
    with pytest.raises(UnsupportedError, match="'theta1' has negative kinetic energy"):
        lw.compile(linkage).forward_dynamics  # noqa: B018


def test_a_negative_moment_that_the_mass_outweighs_is_no_obstacle() -> None:
    """m lc² + I > 0: q̈ = τ / (m lc² + I), in the plane without weight."""
    rod = lw.Mechanism(
        gravity=[0, 0, 0],
        bodies={"rod": {"mass": 1, "center": ["1/2", 0, 0], "inertia": {"zz": "-0.2"}}},
        joints={"q": {"type": "revolute", "child": "rod"}},
    )
    found = lw.compile(rod).forward_dynamics([0.0], [0.0], [1.0])
    np.testing.assert_allclose(found, [1 / (0.25 - 0.2)], rtol=1e-14)
