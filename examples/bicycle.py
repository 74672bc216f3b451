"""The bicycle's eigenvalues against its speed, and its root locus and Bode plot at 5 m/s.

    python examples/bicycle.py [FOLDER]

Compare with figure 3 of Meijaard, Papadopoulos, Ruina and Schwab (2007), Proc. R. Soc. A 463.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright import linearization, show

PUBLISHED = (4.292382536341090, 6.024262015388370)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    bicycle = lw.gallery("bicycle")
    sweep = linearization.sweep_eigenvalues(bicycle, "v", np.linspace(0, 10, 101))
    for name, crossing, published in zip(
        ("weave", "capsize"), sweep.crossings, PUBLISHED, strict=True
    ):
        print(f"{name:8s} {crossing.value:.13f} m/s, published {published:.13f}")
    show.eigenvalues(sweep, unit="m/s", path=folder / "bicycle.svg")
    running = lw.linearize(bicycle, qd={"v": 5.0}, inputs=["delta"], outputs=["phi", "delta"])
    small = running.drop_ignorable()
    show.bode(small, path=folder / "bicycle-bode.svg")
    gains = np.linspace(0, 30, 301)
    show.root_locus(small, "delta", "phi", -gains, path=folder / "bicycle-root-locus.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
