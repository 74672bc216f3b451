"""Figures 1 to 7 of paper 001 (formulations of a triple pendulum): python examples/paper_001.py.

Three bobs at the tips of links of 1 m, released from rest with all links horizontal. The pictures
are written to out/pictures, or to the folder that is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright import show

LINKS = ["link1", "link2", "link3"]


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    run = lw.simulate(lw.gallery("triple-pendulum"), t=5.0, q0=[0, 0, 0], by="newton_euler")

    def file(number: int) -> Path:
        return folder / f"paper-001-figure-{number}.{ending}"

    run.cyclograph(every=0.1, until=1.7, trace=LINKS, path=file(1))
    run.plot("q", path=file(2))
    k = int(np.searchsorted(run.t, 0.4))
    show.free_body_diagrams(run.mechanism, run.q[k], run.qd[k], path=file(3))
    run.plot("centers", path=file(4))
    run.plot("center_accelerations", path=file(5))
    run.plot("body_energy", "energy", path=file(6))
    run.plot("qd", "momenta", path=file(7))
    state = run.mechanism, run.q[k], run.qd[k]  # the paper's own check, by polygons
    show.velocity_polygon(*state, path=folder / f"paper-001-velocities.{ending}")
    show.acceleration_polygon(*state, path=folder / f"paper-001-accelerations.{ending}")
    show.force_polygons(*state, path=folder / f"paper-001-forces.{ending}")
    gap = max(np.abs(body.gap).max() for body in show.free_bodies(*state))
    print(f"energy over 5 s: {run.audit:.1e} of its size; force polygons close to {gap:.1e} N")
    print(f"written: {len(list(folder.glob('paper-001-*')))} pictures in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
