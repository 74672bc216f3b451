"""Pictures of the pages: those of the example scripts and of the gallery, drawn once.

They are kept in docs/generated while the package stays the same: a digest of the source decides.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import linkwright as lw
from linkwright import show

from .convention_figures import draw_frames

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("bicycle", "linkages", "paper_000", "paper_001", "paper_002", "paper_003", "paper_004",
           "studies")  # fmt: skip


@cache
def source_digest() -> str:
    """A digest of the package and of the scripts that draw."""
    digest = hashlib.sha256()
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml"),
             *(ROOT / "src/linkwright/live/js").glob("*"), *(ROOT / "examples").rglob("*"),
             *Path(__file__).parent.glob("*"), *(ROOT / "docs/reference").glob("*.toml"),
             *(ROOT / "docs/gallery").glob("*.toml")]  # fmt: skip
    for path in sorted(path for path in files if path.is_file() and path.suffix != ".pyc"):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(mark: Path) -> bool:
    """Whether a folder was written by this source."""
    return mark.exists() and mark.read_text(encoding="utf-8") == source_digest()


def draw_cards(home: Path) -> None:
    """The pictures of the three tutorials on the first page."""
    arm = lw.simulate(lw.gallery("six-axis"), 0.6, q0=[0.2, -1.0, 1.2, 0.3, 0.8, 0.0])
    arm.cyclograph(every=0.1, view=(-60, 20), path=home / "card-robot.svg")
    bars = lw.gallery("four-bar")
    lw.linkages.coupler_curve(bars, ("coupler", (1.5, 1.0))).plot(
        home / "card-linkage.svg", position=60
    )
    swing = lw.simulate(lw.gallery("chain-2"), 1.6, q0=[0.5, 0.8])
    swing.cyclograph(every=0.08, path=home / "card-lecture.svg")


def write(folder: Path) -> None:
    """Writes generated/pictures."""
    home = folder / "pictures"
    home.mkdir(parents=True, exist_ok=True)
    mark = home / "source.txt"
    if is_current(mark):
        return
    for name in SCRIPTS:
        script = ROOT / f"examples/{name}.py"
        if script.exists():
            words = [sys.executable, str(script), str(home)]
            subprocess.run(words, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    notes = tomllib.loads((ROOT / "docs/gallery/notes.toml").read_text(encoding="utf-8"))
    for name in lw.gallery():
        pose = notes.get(name, {}).get("pose")
        show.figure_of(lw.gallery(name), pose, names=True, path=home / f"gallery-{name}.svg")
    draw_cards(home)
    draw_frames(home / "conventions-frames.svg")
    mark.write_text(source_digest(), encoding="utf-8")
