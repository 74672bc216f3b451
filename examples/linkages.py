"""Linkages and a cam: the results of their analysis, printed and drawn.

    python examples/linkages.py out

writes the pictures of docs/how-to/analyze-a-linkage.md and of other guides into the folder, as
linkage-….svg (another ending may follow: `python examples/linkages.py out png`). The mechanisms are
those of examples/linkages and of the gallery.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright import linkages

FILES = Path(__file__).parent / "linkages"


def four_bar(folder: Path, ending: str) -> None:
    """A crank-rocker: ratios, instant centres, a coupler curve, full balance."""
    bars = lw.gallery("four-bar")
    found = linkages.analyze_linkage(bars)
    print(found, "\n")
    found.plot(folder / f"linkage-four-bar-ratios.{ending}")
    centers = linkages.instant_centers(bars, {"theta1": 1.0})
    print(centers, "\n")
    centers.plot(folder / f"linkage-four-bar-centers.{ending}")
    curve = linkages.coupler_curve(bars, ("coupler", (1.5, 1.0)))
    print(curve)
    curve.plot(folder / f"linkage-four-bar-curve.{ending}", position=60)
    balance = linkages.balance_forces(bars, radius=0.5)
    print(balance)
    for mechanism in (bars, balance.mechanism):
        print(linkages.shaking_forces(mechanism, speed=10.0))


def slider_crank(folder: Path, ending: str) -> None:
    """An engine: shaking force without and with half of the reciprocating mass balanced."""
    engine = lw.gallery("slider-crank")
    balance = linkages.balance_slider_crank(engine, radius=0.2, share=0.5)
    print(balance)
    for word, mechanism in (("unbalanced", engine), ("balanced", balance.mechanism)):
        shaking = linkages.shaking_forces(mechanism, speed=100.0)
        print(f"{word}: {shaking}")
        shaking.plot(folder / f"linkage-slider-crank-{word}.{ending}")


def watt_six_bar(folder: Path, ending: str) -> None:
    """All fifteen instant centres of six links."""
    bars = lw.load(FILES / "watt-six-bar.toml")
    print(linkages.analyze_linkage(bars))
    linkages.instant_centers(bars).plot(folder / f"linkage-watt-six-bar.{ending}")


def stephenson_six_bar(folder: Path, ending: str) -> None:
    """An output that dwells while the crank turns on."""
    bars = lw.load(FILES / "stephenson-six-bar.toml")
    found = linkages.analyze_linkage(bars)
    dwell = found.motion.q[130:191, list(lw.compile(bars).q_names).index("output")]
    print(f"from 130° to 190° the output moves by {np.degrees(np.ptp(dwell)):.3f}°")
    found.plot(folder / f"linkage-stephenson-six-bar.{ending}")


def geared_five_bar(folder: Path, ending: str) -> None:
    """Two geared cranks draw a straight line."""
    curve = linkages.coupler_curve(lw.load(FILES / "geared-five-bar.toml"), "P")
    print(curve)
    curve.plot(folder / f"linkage-geared-five-bar.{ending}", position=40)


def quick_return(folder: Path, ending: str) -> None:
    """A slow cut and a fast return."""
    shaper = lw.load(FILES / "quick-return.toml")
    found = linkages.analyze_linkage(shaper)
    ends = [one.q[0] for one in found.dead_centers if "ram" in one.what]
    cut = (ends[0] - ends[1]) % (2 * np.pi)
    print(f"the cut takes {cut / (2 * np.pi - cut):.4f} times as long as the return")
    found.plot(folder / f"linkage-quick-return.{ending}")


def cam(folder: Path, ending: str) -> None:
    """A valve's lift from a table, and the profile of its cam."""
    angles, lifts = np.loadtxt(FILES / "valve-lift.csv", delimiter=",", skiprows=1, unpack=True)
    motion = linkages.cam_motion(np.radians(angles), 1e-3 * lifts)
    print(motion)
    motion.plot(folder / f"linkage-cam-motion.{ending}")
    profile = linkages.roller_cam(motion, base_radius=0.03, roller_radius=0.01, offset=0.004)
    print(profile)
    profile.plot(folder / f"linkage-cam-profile.{ending}")


PAGES = (
    four_bar,
    slider_crank,
    watt_six_bar,
    stephenson_six_bar,
    geared_five_bar,
    quick_return,
    cam,
)


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        print(f"\n== {page.__name__.replace('_', ' ')}: {page.__doc__}\n")
        page(folder, ending)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
