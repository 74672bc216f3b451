"""The gallery: mechanisms in files in this folder, and families of any size."""

from __future__ import annotations

from importlib.resources import files

from ...errors import NameNotFoundError, suggest_remedy
from .families import GALLERY_FAMILIES, build_gallery_member, find_gallery_family

__all__ = [
    "build_gallery_member",
    "find_gallery_family",
    "gallery_headline",
    "gallery_names",
    "read_gallery_equations",
    "read_gallery_file",
]

EQUATIONS_ENDING = ".equations.txt"
"""The ending of files with published equations."""


def gallery_names() -> list[str]:
    """Return all names; `chain-6` stands for chains of any number of links, and so on."""
    stored = [entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".toml")]
    return sorted(
        [*(name.split(".")[0] for name in stored), *(each.example for each in GALLERY_FAMILIES)]
    )


def read_gallery_file(name: str) -> tuple[str, str] | None:
    """Return the name and text of a mechanism's file; None for a member of a family."""
    for ending in ("toml", "dh.toml"):
        entry = files(__name__) / f"{name}.{ending}"
        if name in gallery_names() and entry.is_file():
            return entry.name, entry.read_text(encoding="utf-8")
    if find_gallery_family(name) is not None:
        return None
    raise NameNotFoundError(
        f"the gallery has no '{name}'", remedy=suggest_remedy(name, gallery_names())
    )


def read_gallery_equations(name: str) -> str | None:
    """Return the published equations of a mechanism as text for the checker, or None."""
    entry = files(__name__) / f"{name}{EQUATIONS_ENDING}"
    return entry.read_text(encoding="utf-8") if entry.is_file() else None


def gallery_headline(name: str) -> str:
    """Return the headline of a mechanism: the first sentence of its file's opening comment."""
    stored, generator = read_gallery_file(name), find_gallery_family(name)
    if stored is None:
        return generator.headline if generator else ""
    lines = []
    for line in stored[1].splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines).split(". ")[0].rstrip(".") + "."
