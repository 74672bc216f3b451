"""Both methods of paper 002 on their examples: python examples/paper_002.py.

Agrawal (1988): instantaneous screws (1), dual displacements by rotation sequences and by Denavit
and Hartenberg, the Stanford arm (13)–(32) with table 1 and the sharp-edged disk (35)–(53) with
table 2, by dual vectors; cylindrical joints, for which one dual product gives two equations.
Freeman and Tesar (1988): G, H, I*, P*, C*, K* and loads (1)–(25) of an elbow with springs, and the
transfer to other coordinates. Then the checker reads what the paper prints, and names its
misprints. Pictures are written to out/pictures, or to the folder that is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import casadi as ca
import numpy as np

import linkwright as lw
from linkwright.algebra.dual import (
    DualNumber,
    dual_denavit_hartenberg,
    dual_rotation_sequence,
)
from linkwright.formulations.influence.coordinate_transfer import (
    dynamics_at_instant,
    frame_influence,
    invert_coefficients,
    transfer_dynamics,
)
from linkwright.motion import screw_axis


def sprung_elbow() -> lw.Mechanism:
    """Two point masses on links of 1 m, with a sprung and damped joint, a spring and damper from
    the hand to ground, and a load at the hand."""
    arm = lw.gallery("elbow").with_parameters(m1=1, m2=1, l1=1, l2=1, lc1=1, lc2=1, I1=0, I2=0)
    sprung = arm.joints["q1"].model_copy(update={"stiffness": 4, "damping": 0.2})
    rope = {"type": "spring", "between": ["hook", "tool"], "stiffness": 30, "damping": 0.5}
    return arm.model_copy(
        update={
            "joints": {**arm.joints, "q1": sprung},
            "frames": {**arm.frames, "hook": {"body": "ground", "origin": [1.5, 0, 0]}},
            "forces": {
                "rope": {**rope, "length": 0.3},
                "push": {"type": "wrench", "on": "tool", "force": [0, 5, 0]},
            },
        }
    )


def stanford_arm() -> lw.Mechanism:
    """The arm of example 1 with the points B and D of figure 4."""
    points = {"B": {"body": "link1", "origin": [0, 0, "d1"]}}
    points["D"] = {"body": "link2", "origin": [0, 0, "d2"]}
    return lw.gallery("stanford-rrp").model_copy(update={"frames": points})


def print_displacements() -> None:
    """Frame P of the disk, from O by the body 2-1-3 sequence of the dual angles ωt + εq2, εq1, q3,
    and frame D of the Stanford arm by two of Denavit and Hartenberg's displacements."""
    beta, q1, q2, q3 = q = [0.5, 0.2, 0.3, 0.6]
    sequence = dual_rotation_sequence(
        [1, 0, 2], [DualNumber(beta, q2), DualNumber(0.0, q1), DualNumber(q3)]
    )
    arm, phi = stanford_arm(), [0.4, 0.8, 0.5]
    d1, d2 = float(arm.values["d1"]), float(arm.values["d2"])
    first = dual_denavit_hartenberg(DualNumber(phi[0], d1), DualNumber(np.pi / 2))
    second = dual_denavit_hartenberg(DualNumber(phi[1], d2), DualNumber(0.0))
    for title, found, mechanism, frame, at in (
        ("frame P by rotations 2-1-3", sequence, lw.gallery("sharp-edged-disk"), "P", q),
        ("frame D by Denavit–Hartenberg", first @ second, arm, "D", phi),
    ):
        R, p = np.array(ca.DM(found.R)), np.array(ca.DM(found.p)).ravel()
        model = lw.compile(mechanism).placement(frame)(at)
        error = max(abs(R - model[:3, :3]).max(), abs(p - model[:3, 3]).max())
        print(f"{title}: R =\n{R.round(4)}\np = {p.round(4)}; error {error:.0e}")


def cylindrical_chain() -> lw.Mechanism:
    """Two cylindrical joints on skew axes: v of a slide is ε times v of its turn, so that the real
    part of one dual product is the equation of the slide, the dual part that of the turn."""
    body = {"mass": "m", "inertia": ["J", "J", "J3"]}
    skew = {"xyz": ["a", 0, 0], "rpy": ["90 deg", 0, 0]}
    return lw.Mechanism(
        name="cylindrical chain",
        parameters={"m": 1, "J": 0.02, "J3": 0.01, "a": 0.5, "g": 9.81},
        gravity=[0, 0, "-g"],
        bodies={"link1": body, "link2": body},
        joints={
            "c1": {"type": "cylindrical", "child": "link1"},
            "c2": {"type": "cylindrical", "parent": "link1", "child": "link2", "origin": skew},
        },
    )


def print_dual_equations(mechanism: lw.Mechanism) -> None:
    """Speeds, dual velocities, partials, momenta, inertia forces, equations; then the misprints."""
    name = mechanism.name
    print(f"\n{name}\n{lw.derive(mechanism, by='kane').equation_set()}")
    report = lw.check(lw.gallery(name), f"{name}.equations.txt")
    print(f"{report.summary()}, as corrected; the equations that the paper prints otherwise:")
    for finding in report:
        if finding.is_said_wrong:
            print(f"misprint ({finding.number}) {finding.equation}\n  {finding.sentence()}")


def print_influence_coefficients() -> lw.Equations:
    """(1)–(25) of the elbow with springs."""
    equations = lw.derive(sprung_elbow(), by="influence")
    print(f"\nelbow with springs\n{equations.equation_set()}")
    return equations


def print_transfer(equations: lw.Equations) -> None:
    """I*, P* and K* in the coordinates x, y of the hand, at one instant."""
    q, qd = [0.3, 0.9], [1.0, -2.0]
    G, H = frame_influence(equations, "tool", q, rows=(3, 4))
    motion = invert_coefficients(G, H)
    model = transfer_dynamics(dynamics_at_instant(equations, q, qd), motion)
    print("\ntransfer to the hand at φ = (0.3, 0.9)")
    for title, value in (("G", motion.G), ("I*", model.inertia), ("P*", model.power)):
        print(f"{title}\n{np.round(value, 9)}")
    print(f"K*\n{np.round(model.stiffness, 6)}")


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    print_displacements()
    arm, state = stanford_arm(), ([0.4, 0.8, 0.5], [1.0, -0.6, 0.3])
    print(f"instantaneous screw (1): {screw_axis(arm, 'link3', *state)}")
    lw.show.screw_axes(arm, *state, path=folder / f"paper-002-figure-3.{ending}")
    shown = {"stanford-rrp": state[0], "sharp-edged-disk": [0.4, 0.2, 0.3, 0.6]}
    for number, (name, q) in enumerate(shown.items(), start=4):
        print_dual_equations(arm if name == arm.name else lw.gallery(name))
        path = folder / f"paper-002-figure-{number}.{ending}"
        lw.show.figure_of(lw.gallery(name), q, names=True, path=path)
    chain = cylindrical_chain()
    print(f"\n{chain.name}\n{lw.derive(chain, by='kane').equation_set()}")
    run = lw.simulate(
        lw.gallery("sharp-edged-disk"), t=1.0, q0={"q1": 0.4, "q2": 0.5, "q3": 0.6}, by="kane"
    )
    run.plot("q", path=folder / f"paper-002-disk.{ending}")
    print_transfer(print_influence_coefficients())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
