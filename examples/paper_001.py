"""The triple pendulum of paper 001 (Bayseç and Kapucu, 1996): python examples/paper_001.py.

Three point masses at the tips of links of 1 m, released from rest with all links horizontal. The
script prints the equations of all four formulations as the paper has them, what the checker says of
the equations that the paper prints, the comparison of the formulations, and the checks of the
paper. Figures 1 to 7 are written to out/pictures, or to the folder that is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright import show

PENDULUM = lw.gallery("triple-pendulum-points")  # I1 = I2 = I3 = 0, as in figure 1
WITH_INERTIA = lw.gallery("triple-pendulum")  # approximate dynamics divides by I2 and I3
LINKS = ["link1", "link2", "link3"]


def print_equations() -> None:
    """(23)–(46) Newton and Euler, (53)–(58) Lagrange, (59)–(65) Hamilton, (66)–(77) approximate."""
    print(lw.derive(PENDULUM, by="newton_euler").equation_set())
    lagrange = lw.derive(PENDULUM, by="lagrange")
    for quantity in ("L", "tau"):
        print(lagrange.closed_form(quantity), "\n")
    print(lw.derive(PENDULUM, by="hamilton").equation_set())
    print(lw.derive(WITH_INERTIA, by="approximate").equation_set())


def print_misprints() -> None:
    """What the checker finds in the equations that the paper prints."""
    report = lw.check(WITH_INERTIA, "triple-pendulum.equations.txt")
    print(f"{report.summary()}, as corrected; the equations that the paper prints otherwise:")
    for finding in report:
        if finding.is_said_wrong:
            print(f"misprint ({finding.number}) {finding.equation}\n  {finding.sentence()}")


def print_comparison() -> None:
    """Equations, states and times of the formulations, beside the times of the paper."""
    formulations = ["newton_euler", "lagrange", "hamilton", "approximate"]
    print(lw.compare(WITH_INERTIA, by=formulations, duration=5.0))


def print_checks() -> None:
    """The checks of the paper, as motions: free fall, natural frequency, a huge mass, energy."""
    print(lw.verify(lw.derive(PENDULUM, by="newton_euler")))


def draw_figures(folder: Path, ending: str) -> None:
    """Figures 1 to 7, and the polygons by which the paper checks."""
    run = lw.simulate(PENDULUM, t=5.0, q0=[0, 0, 0], by="newton_euler")

    def file(name: object) -> Path:
        return folder / f"paper-001-{name}.{ending}"

    run.cyclograph(every=0.1, until=1.7, trace=LINKS, path=file("figure-1"))
    run.plot("q", path=file("figure-2"))
    k = int(np.searchsorted(run.t, 0.4))
    state = PENDULUM, run.q[k], run.qd[k]
    show.free_body_diagrams(*state, path=file("figure-3"))
    run.plot("centers", path=file("figure-4"))
    run.plot("center_accelerations", path=file("figure-5"))
    run.plot("body_energy", "energy", path=file("figure-6"))
    run.plot("qd", "momenta", path=file("figure-7"))
    show.velocity_polygon(*state, path=file("velocities"))
    show.acceleration_polygon(*state, path=file("accelerations"))
    show.force_polygons(*state, path=file("forces"))
    gap = max(np.abs(body.gap).max() for body in show.free_bodies(*state))
    print(f"energy over 5 s: {run.audit:.1e} of its size; force polygons close to {gap:.1e} N")
    print(f"written: {len(list(folder.glob('paper-001-*')))} pictures in {folder}")


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    print_equations()
    print_misprints()
    print_comparison()
    print_checks()
    draw_figures(folder, ending)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
