"""Figures 3 to 7 of paper 003 (Virgala et al., 2016): python examples/paper_003.py.

Six links go from q = 0 to the point (1, 2) in 60 s. The paper gives links of 1 m, and no masses:
here each weighs 1 kg, is uniform (inertia m l²/12) and has no friction. Target → joints (damped
least squares) → quintics → torques (inverse dynamics). The pictures are written to out/pictures, or
to the folder that is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright.motion import plan_to


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    plan = plan_to(lw.gallery("chain-6"), "tool", [[1.0, 2.0]], 60.0, start=np.zeros(6))
    plan.draw(path=folder / f"paper-003-figure-3.{ending}")
    for number, what in enumerate(("q", "qd", "qdd", "tau"), start=4):
        plan.plot(what, degrees=True, path=folder / f"paper-003-figure-{number}.{ending}")
    print(f"goal / °: {np.degrees(plan.q[-1]).round(2)}")
    print(f"largest torques / N·m: {abs(plan.tau).max(0).round(2)}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
