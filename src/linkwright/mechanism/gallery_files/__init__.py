"""The mechanisms that come along: files beside this module, and families of any size."""

from __future__ import annotations

from importlib.resources import files

from ...errors import NameNotFoundError, suggest
from .families import FAMILIES, family, generated

__all__ = ["family", "gallery_file", "gallery_names", "generated", "headline"]


def gallery_names() -> list[str]:
    """All names; `chain-6` stands for chains of any number of links, and so on."""
    stored = [entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".toml")]
    return sorted([*(name.split(".")[0] for name in stored), *(each.example for each in FAMILIES)])


def gallery_file(name: str) -> tuple[str, str] | None:
    """The name and text of a mechanism's file; None for a member of a family."""
    for ending in ("toml", "dh.toml"):
        entry = files(__name__) / f"{name}.{ending}"
        if name in gallery_names() and entry.is_file():
            return entry.name, entry.read_text(encoding="utf-8")
    if family(name) is not None:
        return None
    raise NameNotFoundError(f"the gallery has no '{name}'", remedy=suggest(name, gallery_names()))


def headline(name: str) -> str:
    """What a mechanism is: the first sentence of its file's opening comment."""
    stored, generator = gallery_file(name), family(name)
    if stored is None:
        return generator.headline if generator else ""
    lines = []
    for line in stored[1].splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines).split(". ")[0].rstrip(".") + "."
