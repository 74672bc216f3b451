"""Paper 003 (Virgala et al., 2016), step by step: python examples/paper_003.py.

The algorithm of its section 3 for any number of links: centres of mass, Jacobians, gravity vector,
inertia matrix, Christoffel symbols, C; the time that it takes (figure 1); then the pipeline of
section 4 (figure 2): target → joints (damped least squares) → quintics → torques. Six links of 1 m
go from q = 0 to the point (1, 2) in 60 s. The paper gives no masses: here each link weighs 1 kg, is
uniform (inertia m l²/12) and has viscous friction of 0.5 N·m·s. Pictures are written to
out/pictures, or to the folder that is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright.comparison import DerivationTimes, measure_derivation
from linkwright.motion import MotionPlan, inverse_kinematics, planned, quintic

GOAL, DURATION, FRICTION = [1.0, 2.0], 60.0, 0.5
TIMED_LINKS = (2, 4, 6, 8, 10, 12)


def virgala_chain(links: int) -> lw.Mechanism:
    """A planar chain with dampers D1, D2, … in its joints and frames c1, c2, … at its centres."""
    chain = lw.gallery(f"chain-{links}")
    joints = {
        name: joint.model_copy(update={"damping": f"D{k}"})
        for k, (name, joint) in enumerate(chain.joints.items(), start=1)
    }
    centers = {
        f"c{k}": lw.Frame(body=name, origin=body.center)
        for k, (name, body) in enumerate(chain.bodies.items(), start=1)
    }
    damping = {f"D{k}": FRICTION for k in range(1, links + 1)}
    return chain.model_copy(
        update={
            "joints": joints,
            "frames": {**chain.frames, **centers},
            "parameters": {**chain.parameters, **damping},
        }
    )


def print_model(links: int) -> None:
    """Steps 2 to 15 of the algorithm, and the model (20), in closed form."""
    equations = lw.derive(virgala_chain(links), by="lagrange")
    for k in range(1, links + 1):
        print(f"\nplacement of centre {k}, step 2\n{equations.closed_form('placement', f'c{k}')}")
        print(f"J_ω, J_v of centre {k}, step 3\n{equations.closed_form('jacobian', f'c{k}')}")
    for quantity, step in {
        "potential_energy": "P (11), steps 4 and 5",
        "g": "g (18)",
        "M": "M (7), step 6",
        "christoffel": "c_ijk (22), steps 7 to 11",
        "C": "C (21), step 12",
        "f": "−D q̇",
        "tau": "the model (20)",
    }.items():
        print(f"\n{step}\n{equations.closed_form(quantity)}")


def check_equations() -> None:
    """What the checker says of (4)–(23), with their misprints, for six links."""
    friction = {f"D{k}": f"D{k}" for k in range(1, 7)}
    report = lw.check(virgala_chain(6), "chain-6.equations.txt", names=friction)
    print(f"\n{report.summary()}")
    repairs = {f.number: f.sentence().split("; ")[-1] for f in report if f.is_said_wrong}
    for number in sorted(repairs, key=int):
        print(f"misprint in ({number}): {repairs[number]}")


def plan_motion(duration: float) -> MotionPlan:
    """Figure 2: the target's joints by damped least squares, quintics, inverse dynamics."""
    chain, start = virgala_chain(6), np.zeros(6)
    goal = inverse_kinematics(chain, {"tool": GOAL}, start)
    return planned(chain, "tool", quintic(start, goal.q, duration))


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    print_model(2)
    check_equations()
    chains = {n: virgala_chain(n) for n in TIMED_LINKS}
    times = DerivationTimes({n: measure_derivation(chain, 2.0) for n, chain in chains.items()})
    print(f"\n{times.table().text()}")
    lw.show.save(times.figure(), folder / f"paper-003-figure-1.{ending}")

    plan = plan_motion(DURATION)
    plan.draw(path=folder / f"paper-003-figure-3.{ending}")
    for number, what in enumerate(("q", "qd", "qdd", "tau"), start=4):
        plan.plot(what, degrees=True, path=folder / f"paper-003-figure-{number}.{ending}")
    print(f"\ngoal / °: {np.degrees(plan.q[-1]).round(2)}")
    for duration in (60.0, 10.0, 3.0):
        largest = abs(plan_motion(duration).tau).max(axis=0)
        print(f"largest torques in {duration:g} s / N·m: {largest.round(2)}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
