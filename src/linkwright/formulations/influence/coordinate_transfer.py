"""Transfer of a model from generalized coordinates φ to other coordinates ψ.

Freeman and Tesar's text breaks off before its equation (26); the formulas are derived again. An
array H has planes H[p] in m, n; A • H contracts the columns of A with the first index of H:
(A • H)[l] = Σ A_lp H[p]. All values are numbers of one instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import casadi as ca
import numpy as np

from ...equations import Equations
from ...errors import UnsupportedError
from ...types import Floats
from .influence_dynamics import InfluenceDynamics, InfluenceTransfer


def invert_coefficients(G: Floats, H: Floats) -> InfluenceTransfer:
    """Return φ(ψ) from the coefficients of ψ(φ), equal numbers of both; a singular G is an error.

    G^φ_ψ = (G^ψ_φ)⁻¹,   H^φ_ψψ = −G^φ_ψ • [(G^φ_ψ)ᵀ H^ψ_φφ G^φ_ψ]

    Parameters
    ----------
    G, H : (n, n) and (n, n, n) arrays
        First- and second-order coefficients of ψ, as those of `frame_influence`.

    Returns
    -------
    InfluenceTransfer
        φ as functions of ψ.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> doubled = transfer.invert_coefficients(np.array([[2.0]]), np.zeros((1, 1, 1)))
    >>> doubled.G.tolist()
    [[0.5]]
    """
    left, sizes, _ = np.linalg.svd(G)
    if G.shape[0] != G.shape[1]:
        raise UnsupportedError(
            f"{G.shape[0]} coordinates cannot take the place of {G.shape[1]}",
            remedy="give as many functions as there are joints (add a posture if redundant)",
        )
    if sizes[-1] <= 1e-12 * sizes[0]:
        direction = np.round(left[:, -1] * np.sign(left[np.argmax(np.abs(left[:, -1])), -1]), 6)
        raise UnsupportedError(
            f"the configuration is singular: no joint motion moves along {direction.tolist()}",
            remedy="leave this configuration, or choose other coordinates",
        )
    back: Floats = np.linalg.inv(G).astype(float)
    planes = np.einsum("am,pab,bn->pmn", back, H, back)
    return InfluenceTransfer(back, -np.einsum("lp,pmn->lmn", back, planes))


def transfer_dynamics(dynamics: InfluenceDynamics, motion: InfluenceTransfer) -> InfluenceDynamics:
    """Return the model in other coordinates ψ.

    Loads are multiplied by Gᵀ, and
    I*_ψ = Gᵀ I* G,   P*_ψ = Gᵀ • (Gᵀ P* G) + (Gᵀ I*) • H,   K*_ψ = Gᵀ K* G + T_springᵀ • H

    Parameters
    ----------
    dynamics : InfluenceDynamics
        The model in φ.
    motion : InfluenceTransfer
        φ as functions of ψ.

    Returns
    -------
    InfluenceDynamics
        The model in ψ.

    Examples
    --------
    The elbow arm in the coordinates x, y of its tool:

    >>> import linkwright as lw
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> eqs, q = lw.derive(lw.gallery("elbow"), by="influence"), [0.3, 0.9]
    >>> hand = transfer.invert_coefficients(*transfer.frame_influence(eqs, "tool", q, rows=(3, 4)))
    >>> model = transfer.transfer_dynamics(transfer.dynamics_at_instant(eqs, q, [0.0, 0.0]), hand)
    >>> model.inertia.round(4).tolist()
    [[0.4304, 0.382], [0.382, 1.6561]]
    """
    G, H = motion.G, motion.H
    inner = np.einsum("am,pab,bn->pmn", G, dynamics.power, G)
    power = np.einsum("pl,pmn->lmn", G, inner)
    power = power + np.einsum("lp,pmn->lmn", G.T @ dynamics.inertia, H)
    curved = np.einsum("p,pmn->mn", dynamics.spring_loads, H)
    return InfluenceDynamics(
        inertia=G.T @ dynamics.inertia @ G,
        power=power,
        damping=G.T @ dynamics.damping @ G,
        loads=G.T @ dynamics.loads,
        spring_loads=G.T @ dynamics.spring_loads,
        stiffness=G.T @ dynamics.stiffness @ G + curved,
    )


def dependent_coefficients(G: Floats, H: Floats, motion: InfluenceTransfer) -> InfluenceTransfer:
    """Return the coefficients in ψ of any function z(φ):  G_z G  and  Gᵀ H_z G + G_z • H.

    Parameters
    ----------
    G, H : (k, n) and (k, n, n) arrays
        Coefficients of z by φ.
    motion : InfluenceTransfer
        φ as functions of ψ.

    Returns
    -------
    InfluenceTransfer
        z as functions of ψ.

    Examples
    --------
    A lever z = 3 φ whose angle is φ = ψ/2:

    >>> import numpy as np
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> none = np.zeros((1, 1, 1))
    >>> half = transfer.InfluenceTransfer(np.array([[0.5]]), none)
    >>> transfer.dependent_coefficients(np.array([[3.0]]), none, half).G.tolist()
    [[1.5]]
    """
    planes = np.einsum("am,pab,bn->pmn", motion.G, H, motion.G)
    return InfluenceTransfer(G @ motion.G, planes + np.einsum("lp,pmn->lmn", G, motion.H))


def closure_coefficients(
    A: Floats, H: Floats, inputs: Sequence[int], names: Sequence[str] = ()
) -> InfluenceTransfer:
    """Return all joints φ as functions of the inputs a, from the coefficients of f(φ) = 0.

    G^p_a = −A_p⁻¹ A_a,   H^p_aa = −A_p⁻¹ • (Gᵀ H^f G). The error for a singular A_p names the
    inputs that cannot drive the loop.

    Parameters
    ----------
    A, H : (m, n) and (m, n, n) arrays
        First- and second-order coefficients of the m independent closures f.
    inputs : sequence of int
        Indices of the n − m joints that drive the loop.
    names : sequence of str, optional
        Names of the joints, for the error.

    Returns
    -------
    InfluenceTransfer
        φ as functions of a.

    Examples
    --------
    A gear pair φ₁ + 3 φ₂ = 0, driven at its first wheel:

    >>> import numpy as np
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> gears = transfer.closure_coefficients(np.array([[1.0, 3.0]]), np.zeros((1, 2, 2)), [0])
    >>> gears.G.round(4).tolist()
    [[1.0], [-0.3333]]
    """
    n, inputs = A.shape[1], list(inputs)
    others = [k for k in range(n) if k not in inputs]
    A_p, A_a = A[:, others], A[:, inputs]
    left, sizes, _ = np.linalg.svd(A_p)
    if A_p.shape[0] != A_p.shape[1]:
        raise UnsupportedError(
            f"{len(A)} closures and {len(inputs)} inputs do not determine {n} joints",
            remedy="take independent closures, and as many inputs as degrees of freedom",
        )
    if sizes[-1] <= 1e-12 * sizes[0]:
        tied = np.abs(left[:, -1] @ A_a)
        stuck = [str((names or range(n))[k]) for k, x in zip(inputs, tied, strict=True) if x > 1e-9]
        raise UnsupportedError(
            f"the inputs {', '.join(stuck)} cannot drive the loop in this configuration",
            remedy="leave this configuration, or choose other inputs",
        )
    G = np.zeros((n, len(inputs)))
    G[inputs, range(len(inputs))] = 1
    G[others] = -np.linalg.solve(A_p, A_a)
    planes = np.einsum("am,pab,bn->pmn", G, H, G)
    second = np.zeros((n, *planes.shape[1:]))
    second[others] = -np.linalg.solve(A_p, planes.reshape(len(A), -1)).reshape(planes.shape)
    return InfluenceTransfer(G, second)


def leg_coefficients(u: tuple[Floats, Floats], h: tuple[Floats, Floats]) -> InfluenceTransfer:
    """Return the joints φ_i of a leg or arm that holds a body e, by (G, H) of u_i(φ_i) = h_i(e).

    G_i = (G^u)⁻¹ G^h,   H_i = (G^u)⁻¹ • (H^h − G_iᵀ H^u G_i)

    Parameters
    ----------
    u : tuple of (n, n) and (n, n, n) arrays
        Coefficients of the hand of the leg by its joints.
    h : tuple of (n, k) and (n, k, k) arrays
        Coefficients of the same point by the coordinates e of the body.

    Returns
    -------
    InfluenceTransfer
        φ_i as functions of e.

    Examples
    --------
    A slide that holds a body which moves along the same line:

    >>> import numpy as np
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> slide = np.eye(1), np.zeros((1, 1, 1))
    >>> transfer.leg_coefficients(slide, slide).G.tolist()
    [[1.0]]
    """
    back = invert_coefficients(*u).G
    G = back @ h[0]
    planes = h[1] - np.einsum("am,pab,bn->pmn", G, u[1], G)
    return InfluenceTransfer(G, np.einsum("lp,pmn->lmn", back, planes))


def add_dynamics(parts: Sequence[InfluenceDynamics]) -> InfluenceDynamics:
    """Return the sum of several models in the same coordinates: a body and all legs that hold it.

    Parameters
    ----------
    parts : sequence of InfluenceDynamics
        Models in the same coordinates.

    Returns
    -------
    InfluenceDynamics
        Their sum.

    Examples
    --------
    >>> import linkwright as lw
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> eqs = lw.derive(lw.gallery("elbow"), by="influence")
    >>> one = transfer.dynamics_at_instant(eqs, [0.0, 0.0], [0.0, 0.0])
    >>> transfer.add_dynamics([one, one]).loads.round(3).tolist()
    [39.24, 9.81]
    """
    names = [field.name for field in fields(InfluenceDynamics)]
    return InfluenceDynamics(**{name: sum(getattr(part, name) for part in parts) for name in names})


def operational_dynamics(
    dynamics: InfluenceDynamics, u: tuple[Floats, Floats], rate: Floats
) -> tuple[Floats, Floats]:
    """Return Λ and b with T_u = Λ ü + b at the hand u of a redundant arm, loaded at the hand only.

    Λ = (G I*⁻¹ Gᵀ)⁻¹,   b = Λ (G I*⁻¹ (φ̇ᵀP*φ̇ + C*φ̇ + loads) − φ̇ᵀHφ̇)

    Parameters
    ----------
    dynamics : InfluenceDynamics
        The model in the joints φ.
    u : tuple of (k, n) and (k, n, n) arrays
        Coefficients of the hand, as those of `frame_influence`.
    rate : (n,) array
        φ̇, rad/s or m/s.

    Returns
    -------
    tuple of two arrays
        Λ, (k, k), and b, (k,): kg and N for rows of positions.

    Examples
    --------
    The mass that the tool of the elbow arm shows along y when the arm is stretched along x:

    >>> import linkwright as lw
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> eqs, q = lw.derive(lw.gallery("elbow"), by="influence"), [0.0, 0.0]
    >>> model = transfer.dynamics_at_instant(eqs, q, [0.0, 0.0])
    >>> along_y = transfer.frame_influence(eqs, "tool", q, rows=[4])
    >>> transfer.operational_dynamics(model, along_y, [0.0, 0.0])[0].round(4).tolist()
    [[0.2917]]
    """
    G, H = u
    still = dynamics.generalized_force(rate, np.zeros(len(rate)))
    mobility = G @ np.linalg.solve(dynamics.inertia, G.T)
    sizes = np.linalg.eigvalsh(mobility)
    if sizes[0] <= 1e-12 * sizes[-1]:
        raise UnsupportedError(
            "the hand cannot move in every direction here", remedy="leave this configuration"
        )
    inertia = np.linalg.inv(mobility)
    drift = np.einsum("lmn,m,n->l", H, rate, rate)
    return inertia, inertia @ (G @ np.linalg.solve(dynamics.inertia, still) - drift)


def dynamics_at_instant(
    equations: Equations, q: Sequence[float], qd: Sequence[float]
) -> InfluenceDynamics:
    """Return the model of one instant in its own coordinates, from equations by `influence`.

    Loads are all forces except inertia and linear damping: weight, springs, friction, declared
    forces (at t = 0).

    Parameters
    ----------
    equations : Equations
        What `derive(mechanism, by="influence")` returned.
    q, qd : (nq,) and (nv,) sequences of numbers
        Coordinates and velocities, rad or m, rad/s or m/s.

    Returns
    -------
    InfluenceDynamics
        The model with numbers.

    Examples
    --------
    >>> import linkwright as lw
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> eqs = lw.derive(lw.gallery("elbow"), by="influence")
    >>> transfer.dynamics_at_instant(eqs, [0.0, 0.0], [0.0, 0.0]).loads.round(3).tolist()
    [19.62, 4.905]
    """
    s = equations.symbols
    n = equations.nv
    C, K = equations.extra("effective_damping"), equations.extra("effective_stiffness")
    loads = equations.g - equations.f - C @ s["qd"]
    if equations.names.has_moving_coordinates:
        loads += equations.expressions("transport")[0]
    springs = equations.extra("effective_spring_loads")
    planes = equations.extra("inertia_power")
    results = [equations.M, C, loads, springs, K, *planes]
    inputs = [s["q"], s["qd"], s["t"], s["p"]]
    numbers = [float(value) for value in equations.parameters.values()]
    found = ca.Function("instant", inputs, results)(q, qd, 0.0, numbers)
    M, C, loads, springs, K, *planes = (np.asarray(x, dtype=float) for x in found)
    power = np.array(planes).reshape(n, n, n)
    return InfluenceDynamics(M, power, C, loads.ravel(), springs.ravel(), K)


def frame_influence(
    equations: Equations, frame: str, q: Sequence[float], rows: Sequence[int] = (3, 4, 5)
) -> tuple[Floats, Floats]:
    """Return G and H of a frame's motion, for rows of (ω, v); default: those of its position.

    H is symmetric: J̇ q̇ = φ̇ᵀHφ̇. Coordinates that depend on time are those at t = 0.

    Parameters
    ----------
    equations : Equations
        What `derive(mechanism, by="influence")` returned.
    frame : str
        A frame or body.
    q : (nq,) sequence of numbers
        Coordinates, rad or m.
    rows : sequence of int
        Rows of (ω, v) in world axes, 0 to 5.

    Returns
    -------
    tuple of two arrays
        G, (rows, nv), and H, (rows, nv, nv).

    Examples
    --------
    >>> import linkwright as lw
    >>> from linkwright.formulations.influence import coordinate_transfer as transfer
    >>> eqs = lw.derive(lw.gallery("elbow"), by="influence")
    >>> transfer.frame_influence(eqs, "tool", [0.0, 0.0], rows=[4])[0].tolist()
    [[2.0, 1.0]]
    """
    s = equations.symbols
    (J,), (drift,) = (
        equations.expressions(name, frame) for name in ("jacobian", "frame_bias_acceleration")
    )
    planes = [ca.hessian(drift[row], s["qd"])[0] / 2 for row in rows]
    numbers = [float(value) for value in equations.parameters.values()]
    G, *H = ca.Function("G", [s["q"], s["t"], s["p"]], [J[list(rows), :], *planes])(q, 0.0, numbers)
    return np.asarray(G, dtype=float), np.array([np.asarray(plane, dtype=float) for plane in H])
