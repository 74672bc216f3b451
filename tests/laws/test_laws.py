"""Laws of mechanics on random trees of all joint types, derived numerically through CasADi."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from tests.random_trees import KINDS, RandomTree, random_tree, trees
from tests.references import rigid

SEEDS = st.integers(0, 2**20)


def evaluate(tree: RandomTree, name: str, *inputs: np.ndarray) -> np.ndarray:
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    found = np.asarray(eqs.function(name)(*inputs), dtype=float)
    return found.ravel() if found.shape[1] == 1 else found


def close(a: np.ndarray, b: np.ndarray, scale: float = 1.0, tolerance: float = 1e-11) -> None:
    assert np.max(np.abs(a - b)) <= tolerance * max(scale, float(np.max(np.abs(b))))


@settings(max_examples=60, deadline=None)
@given(trees(), SEEDS)
def test_forces_are_those_of_dalembert(tree: RandomTree, seed: int) -> None:
    q, v, a = tree.state(seed)
    wanted = rigid.inverse_dynamics(tree.bodies, q, v, a, tree.gravity)
    close(evaluate(tree, "inverse_dynamics", q, v, a), wanted)
    close(
        evaluate(tree, "bias", q, v), rigid.inverse_dynamics(tree.bodies, q, v, 0 * a, tree.gravity)
    )
    close(evaluate(tree, "passive", q, v), rigid.passive(tree.bodies, q, v))


@settings(max_examples=40, deadline=None)
@given(trees(), SEEDS)
def test_forward_undoes_inverse(tree: RandomTree, seed: int) -> None:
    q, v, a = tree.state(seed)
    M = rigid.mass_matrix(tree.bodies, q)
    close(evaluate(tree, "mass_matrix", q), M)
    tau = rigid.inverse_dynamics(tree.bodies, q, v, a, tree.gravity)
    condition = np.linalg.cond(M)
    assert condition < 1e7, "the random trees are built to be well conditioned"
    close(evaluate(tree, "forward_dynamics", q, v, tau), a, tolerance=1e-13 * condition + 1e-11)


@settings(max_examples=40, deadline=None)
@given(trees(), SEEDS)
def test_mass_matrix_minus_twice_coriolis_is_skew(tree: RandomTree, seed: int) -> None:
    q, v, _ = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    Q, V = eqs.symbols["q"], eqs.symbols["qd"]
    rate = ca.Function("f", [Q, V], [ca.jtimes(eqs.M, Q, eqs.rate_matrix @ V)])
    M_dot, C = np.asarray(rate(q, v)), evaluate(tree, "coriolis_matrix", q, v)
    C = np.reshape(C, M_dot.shape)
    N = M_dot - 2 * C
    size = float(np.abs(rigid.mass_matrix(tree.bodies, q)).max() * np.abs(v).max())
    close(N + N.T, np.zeros_like(N), scale=size)
    still = tree.mechanism.without("friction", "damping", "springs")
    bias = lw.derive(still, parameters="numeric").function("bias")(q, v)
    close(C @ v + evaluate(tree, "gravity", q), np.asarray(bias).ravel(), scale=10.0)


@settings(max_examples=30, deadline=None)
@given(trees(kinds=[k for k in KINDS if k not in ("ball", "free")]), SEEDS)
def test_coriolis_matrix_is_that_of_the_christoffel_symbols(tree: RandomTree, seed: int) -> None:
    q, v, _ = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    n, Q = eqs.nv, eqs.symbols["q"]
    dM = np.asarray(ca.Function("f", [Q], [ca.jacobian(ca.vec(eqs.M), Q)])(q)).reshape(n, n, n)
    # dM[j, i, k] = ∂M_ij/∂q_k; c_ijk = ½(∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k)
    c = np.zeros((n, n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j, k] = (dM[j, k, i] + dM[i, k, j] - dM[j, i, k]) / 2
    C = np.einsum("ijk,i->kj", c, v)
    found = evaluate(tree, "coriolis_matrix", q, v).reshape(n, n)
    close(found, C, scale=float(np.abs(np.asarray(eqs.function("mass_matrix")(q))).max()))


@settings(max_examples=40, deadline=None)
@given(trees(), SEEDS)
def test_gravity_is_the_gradient_of_the_potential(tree: RandomTree, seed: int) -> None:
    q, _, _ = tree.state(seed)
    eqs = lw.derive(tree.mechanism.without("springs"), parameters="numeric")
    Q = eqs.symbols["q"]
    (V,) = eqs.expressions("potential_energy")
    slope = np.asarray(ca.Function("f", [Q], [eqs.tangent_jacobian(V)])(q)).ravel()
    close(np.asarray(eqs.function("gravity")(q)).ravel(), slope)


@settings(max_examples=40, deadline=None)
@given(trees(), SEEDS)
def test_power_balance(tree: RandomTree, seed: int) -> None:
    """d(T + V)/dt = (τ + losses)·v, with the derivative taken along the motion by AD."""
    q, v, a = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    Q, U = eqs.symbols["q"], eqs.symbols["qd"]
    E = eqs.expressions("kinetic_energy")[0] + eqs.expressions("potential_energy")[0]
    rate = ca.jtimes(E, Q, eqs.rate_matrix @ U) + ca.jtimes(E, U, eqs.symbols["qdd"])
    power = float(ca.Function("f", [Q, U, eqs.symbols["qdd"]], [rate])(q, v, a))
    tau = evaluate(tree, "inverse_dynamics", q, v, a)
    springless = lw.derive(tree.mechanism.without("springs"), parameters="numeric")
    losses = np.asarray(springless.function("passive")(q, v)).ravel()
    assert losses @ v <= 0
    close(np.array([power]), np.array([(tau + losses) @ v]), scale=float(np.abs(tau).max() * 10))


@settings(max_examples=30, deadline=None)
@given(trees(), SEEDS)
def test_energies(tree: RandomTree, seed: int) -> None:
    q, v, _ = tree.state(seed)
    close(
        evaluate(tree, "kinetic_energy", q, v),
        np.array([rigid.kinetic_energy(tree.bodies, q, v)]),
    )
    # bodies fixed to ground add a constant in the reference, nothing in ours
    q1, _, _ = tree.state(seed + 1)
    ours = evaluate(tree, "potential_energy", q) - evaluate(tree, "potential_energy", q1)
    g = tree.gravity
    theirs = rigid.potential_energy(tree.bodies, q, g) - rigid.potential_energy(tree.bodies, q1, g)
    close(ours, np.array([theirs]), scale=100.0)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(trees(losses=False, motors=False), SEEDS)
def test_regressors(tree: RandomTree, seed: int) -> None:
    q, v, a = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    pi = np.asarray(ca.DM(eqs.inertial_parameters)).ravel()
    Y = np.asarray(eqs.function("regressor")(q, v, a))
    close(Y @ pi, rigid.inverse_dynamics(tree.bodies, q, v, a, tree.gravity))
    w, wd = np.random.default_rng(seed).uniform(-1, 1, (2, eqs.nv))
    Phi = np.asarray(eqs.function("control_regressor")(q, v, w, wd))
    M, C = (
        np.asarray(eqs.function(f)(*x))
        for f, x in (("mass_matrix", (q,)), ("coriolis_matrix", (q, v)))
    )
    g = np.asarray(eqs.function("gravity")(q)).ravel()
    close(Phi @ pi, M @ wd + C @ w + g, scale=10.0)


@pytest.mark.parametrize(
    ("name", "by"),
    [
        *(("elbow", by) for by in ("lagrange", "kane", "hamilton", "newton_euler", "recurrent")),
        ("remote-elbow", "influence"),
        ("four-bar", "multipliers"),
        ("quadruped", "kane"),
    ],
)
def test_regressors_of_every_formulation(name: str, by: str) -> None:
    """Y π = M q̈ + C q̇ + g with M, bias and f as the formulation itself derives them."""
    model = lw.compile(lw.derive(lw.gallery(name), by=by, parameters="numeric"))
    v, a = np.random.default_rng(3).uniform(-1, 1, (2, model.nv))
    q = model.integrate(model.home(), 0.3 * v)
    Y, Phi = model.regressor(q, v, a), model.control_regressor(q, v, v, a)
    wanted = model.mass_matrix(q) @ a + model.bias(q, v) + model.forces(q, v)
    close(Y @ model.inertial_parameters, wanted)
    close(Phi @ model.inertial_parameters, wanted)  # C v is the same for every C where v = q̇


@settings(max_examples=30, deadline=None)
@given(trees(), SEEDS)
def test_frames(tree: RandomTree, seed: int) -> None:
    """Placements, velocities, Jacobians and accelerations of every body."""
    q, v, a = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    for i, jet in enumerate(rigid.motions(tree.bodies, q, v, a)):
        R = jet.x[:3, :3]
        omega = rigid.vee(jet.d[:3, :3] @ R.T)
        alpha = rigid.vee(jet.dd[:3, :3] @ R.T + jet.d[:3, :3] @ jet.d[:3, :3].T)
        velocity = np.r_[omega, jet.d[:3, 3]]
        acceleration = np.r_[alpha, jet.dd[:3, 3]]

        def at(name: str, *inputs: np.ndarray, body: str = f"b{i}") -> np.ndarray:
            return np.asarray(eqs.function(name, body)(*inputs))

        close(at("placement", q), jet.x)
        close(at("frame_velocity", q, v).ravel(), velocity)
        J = at("jacobian", q)
        close(J @ v, velocity)
        close(at("frame_acceleration", q, v, a).ravel(), acceleration)
        close(at("frame_bias_acceleration", q, v).ravel() + J @ a, acceleration, scale=10.0)


@settings(max_examples=25, deadline=None)
@given(trees(losses=False, motors=False), SEEDS)
def test_momentum_and_mass_centre(tree: RandomTree, seed: int) -> None:
    q, v, a = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    moving = [i for i in range(len(tree.bodies)) if _moves(tree, i)]
    jets = rigid.motions(tree.bodies, q, v, a)
    mass = sum(tree.bodies[i].mass for i in moving)
    centres = {i: (jets[i].x @ np.append(tree.bodies[i].center, 1))[:3] for i in moving}
    rates = {i: (jets[i].d @ np.append(tree.bodies[i].center, 1))[:3] for i in moving}
    c = sum(tree.bodies[i].mass * centres[i] for i in moving) / mass
    linear = sum(tree.bodies[i].mass * rates[i] for i in moving)
    angular = np.zeros(3)
    for i in moving:
        R = jets[i].x[:3, :3]
        omega = rigid.vee(jets[i].d[:3, :3] @ R.T)
        angular = angular + R @ tree.bodies[i].inertia @ R.T @ omega
        angular = angular + np.cross(centres[i] - c, tree.bodies[i].mass * rates[i])
    close(np.asarray(eqs.function("center_of_mass")(q)).ravel(), c)
    close(np.asarray(eqs.function("momentum")(q, v)).ravel(), np.r_[angular, linear])


def _moves(tree: RandomTree, i: int) -> bool:
    while i >= 0:
        if tree.bodies[i].nv:
            return True
        i = tree.bodies[i].parent
    return False


@settings(max_examples=25, deadline=None)
@given(trees(), SEEDS)
def test_reactions_support_the_drives_and_the_ground(tree: RandomTree, seed: int) -> None:
    """Every joint's wrench does the drive's work, less that of rotors; the roots' forces add
    up to the rate of the total momentum minus the weight."""
    q, v, a = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    rows = np.asarray(eqs.function("reactions_of_motion")(q, v, a))
    tau = np.asarray(eqs.function("inverse_dynamics")(q, v, a)).ravel()
    plain = tau + rigid.passive(tree.bodies, q, v) - rigid.rotors(tree.bodies) * a
    jets = rigid.motions(tree.bodies, q, v, a)
    start = 0
    for i, body in enumerate(tree.bodies):
        parent = np.eye(4) if body.parent < 0 else jets[body.parent].x
        origin = (parent @ body.origin)[:3, 3]
        row = rows[eqs.names.joints.index(f"j{i}")]
        for k in range(body.nv):
            unit = np.eye(len(v))[start + k]
            moved = rigid.motions(tree.bodies, q, unit, 0 * v)
            R = moved[i].x[:3, :3]
            omega = rigid.vee(moved[i].d[:3, :3] @ R.T)
            velocity = moved[i].d[:3, 3] + np.cross(omega, origin - moved[i].x[:3, 3])
            power = row[:3] @ omega + row[3:] @ velocity
            close(np.array([power]), np.array([plain[start + k]]), scale=float(np.abs(row).max()))
        start += body.nv
    roots = [i for i, body in enumerate(tree.bodies) if body.parent < 0]
    force = sum(rows[eqs.names.joints.index(f"j{i}")][3:] for i in roots)
    wanted = np.zeros(3)
    for body, jet in zip(tree.bodies, jets, strict=True):
        wanted = wanted + body.mass * ((jet.dd @ np.append(body.center, 1))[:3] - tree.gravity)
    close(force, wanted, scale=10.0)


@settings(max_examples=25, deadline=None)
@given(trees(), SEEDS)
def test_reactions_in_bodies_are_those_in_the_world_turned(tree: RandomTree, seed: int) -> None:
    q, v, tau = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    world, local = (
        np.asarray(eqs.function(name)(q, v, tau)) for name in ("reactions", "body_reactions")
    )
    for k, joint in enumerate(tree.mechanism.joints[name] for name in eqs.names.joints):
        R = np.asarray(eqs.function("placement", joint.child)(q))[:3, :3]
        turned = np.concatenate([R @ local[k, :3], R @ local[k, 3:]])
        np.testing.assert_allclose(turned, world[k], rtol=0, atol=1e-10 * max(1, abs(world).max()))


@settings(max_examples=30, deadline=None)
@given(trees(), SEEDS)
def test_external_wrenches_act_through_jacobians(tree: RandomTree, seed: int) -> None:
    q, v, a = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    w = np.random.default_rng(seed).uniform(-5, 5, (len(eqs.names.bodies), 6))
    tau = np.asarray(eqs.function("inverse_dynamics")(q, v, a)).ravel()
    loaded = np.asarray(eqs.function("inverse_dynamics_with_wrenches")(q, v, a, w)).ravel()
    pull = np.zeros(eqs.nv)
    for row, body in zip(w, eqs.names.bodies, strict=True):
        pull += np.asarray(eqs.function("jacobian", body)(q)).T @ row
    close(loaded, tau - pull, scale=10.0)
    back = np.asarray(eqs.function("forward_dynamics_with_wrenches")(q, v, loaded, w)).ravel()
    close(back, a, tolerance=1e-9)


@settings(max_examples=20, deadline=None)
@given(trees(max_bodies=3), SEEDS)
def test_derivatives_agree_with_differences_on_the_manifold(tree: RandomTree, seed: int) -> None:
    """∂/∂q along the tangent, against central differences of order four of q ⊕ h e."""
    q, v, a = tree.state(seed)
    v = np.where(np.abs(v) < 0.1, 0.5, v)  # away from the jump of Coulomb friction
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    step = eqs.function("integrate")

    def slope(name: str, third: np.ndarray) -> list[np.ndarray]:
        f = eqs.function(name)
        n, h = eqs.nv, 1e-3
        columns: list[list[np.ndarray]] = [[], [], []]
        for e in np.eye(n):
            ways = [
                lambda s, e=e: f(step(q, s * h * e), v, third),
                lambda s, e=e: f(q, v + s * h * e, third),
                lambda s, e=e: f(q, v, third + s * h * e),
            ]
            for column, way in zip(columns, ways, strict=True):
                d = 8 * (way(1) - way(-1)) - (way(2) - way(-2))
                column.append(np.asarray(d).ravel() / (12 * h))
        return [np.array(column).T for column in columns]

    for name, third in (("inverse_dynamics", a), ("forward_dynamics", a)):
        exact = eqs.function(f"{name}_derivatives")(q, v, third)
        for ours, theirs in zip(exact, slope(name, third), strict=True):
            close(np.asarray(ours), theirs, scale=10.0, tolerance=3e-8)


@settings(max_examples=30, deadline=None)
@given(trees(), SEEDS)
def test_manifold(tree: RandomTree, seed: int) -> None:
    """difference undoes integrate; integrate has the rate N(q) v; quaternions stay unit."""
    q, v, _ = tree.state(seed)
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    integrate, difference = eqs.function("integrate"), eqs.function("difference")
    for size in (1.0, 1e-3, 1e-9, 0.0):
        there = np.asarray(integrate(q, size * v)).ravel()
        close(np.asarray(difference(q, there)).ravel(), size * v, tolerance=1e-12)
        for body, start in zip(
            tree.bodies, np.cumsum([0, *(b.nq for b in tree.bodies)]), strict=False
        ):
            if body.kind in ("ball", "free"):
                assert abs(np.linalg.norm(there[start + body.nq - 4 : start + body.nq]) - 1) < 1e-15
    h = 1e-4
    rate = (np.asarray(integrate(q, h * v)) - np.asarray(integrate(q, -h * v))).ravel() / (2 * h)
    N = np.asarray(ca.Function("f", [eqs.symbols["q"]], [eqs.rate_matrix])(q))
    close(rate, N @ v, tolerance=1e-6)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "fixed"])
def test_each_joint_type_alone(kind: str) -> None:
    """Hypothesis may miss a type; this does not."""
    tree = random_tree(7, [kind], [0])
    q, v, a = tree.state(3)
    wanted = rigid.inverse_dynamics(tree.bodies, q, v, a, tree.gravity)
    close(evaluate(tree, "inverse_dynamics", q, v, a), wanted)
    close(evaluate(tree, "forward_dynamics", q, v, wanted), a)
