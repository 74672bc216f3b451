"""The arms of paper 004 (Spong and Vidyasagar, chapter 6): python examples/paper_004.py.

For each of the three arms: the inertia matrix D, the Christoffel symbols, the potential energy, the
gravity vector φ, the matrix C and the equations of motion (6.4.1)–(6.4.31); for the elbow also the
two regressors of the slides. Then the checker reads what the book prints, and names its misprints.
Pictures of the arms are written to out/pictures, or to the folder that is named.
"""

from __future__ import annotations

import sys
from pathlib import Path

import linkwright as lw
from linkwright.identify import regressor_of

ARMS = {"cartesian": "6.4.1", "elbow": "6.4.2", "remote-elbow": "6.4.3"}
QUANTITIES = {
    "M": "inertia matrix D(q)",
    "christoffel": "Christoffel symbols c_ijk (6.3.9)",
    "V": "potential energy",
    "g": "gravity vector φ(q) (6.3.10)",
    "C": "C(q, q̇) (6.3.13)",
    "tau": "equations of motion (6.3.11)",
}
SHOWN = {"cartesian": [0.8, 0.6], "elbow": [0.6, 0.9], "remote-elbow": [0.6, 1.5]}  # m, rad
NINE = "m1*lc1^2, m2*l1^2, m2*lc2^2, m2*l1*lc2, I1, I2, m1*lc1*g, m2*l1*g, m2*lc2*g"
SIX = "m1*lc1^2 + m2*l1^2 + I1, m2*lc2^2 + I2, m2*l1*lc2, m1*lc1, m2*l1, m2*lc2"


def print_arm(name: str) -> None:
    """D, c, V, φ, C and the equations of motion of an arm, and the misprints of the book."""
    arm = lw.gallery(name)
    equations = lw.derive(arm, by="lagrange")
    print(f"\nExample {ARMS[name]}: {name}")
    for quantity, meaning in QUANTITIES.items():
        print(f"\n{meaning}\n{equations.closed_form(quantity)}")
    report = lw.check(arm, f"{name}.equations.txt")
    print(f"\n{report.summary()}")
    print("as corrected; the equations that the book prints otherwise:")
    for finding in report:
        if finding.is_said_wrong:
            print(f"misprint ({finding.number}) {finding.equation}\n  {finding.sentence()}")


def skewness(name: str) -> str:
    """What `verify` says of theorem 6.3.1: N = Ḋ − 2C is skew-symmetric."""
    return next(str(check) for check in lw.verify(lw.gallery(name)).checks if "skew" in check.name)


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(ARMS, start=2):
        print_arm(name)
        print(f"\ntheorem 6.3.1: {skewness(name)}")
        path = folder / f"paper-004-figure-{number}.{ending}"
        lw.show.figure_of(lw.gallery(name), SHOWN[name], names=True, path=path)
    for columns in (NINE, SIX):
        print(f"\nregressor\n{regressor_of(lw.gallery('elbow'), columns.split(', '))}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
