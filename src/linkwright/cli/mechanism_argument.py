"""The mechanism that a FILE argument names: a file, or a mechanism of the gallery."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FileError, LinkwrightError, suggest_remedy
from .option_texts import read_option_assignments, read_option_names

if TYPE_CHECKING:
    from ..mechanism import Mechanism


@dataclass(frozen=True)
class ReadingOptions:
    """The options of reading a file: `--base`, `--closure`, `--ignore`, `--density`, `--arg`."""

    base: str | None = None
    closure: float | None = None
    ignore: Sequence[str] = ()
    density: str | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_texts(cls, texts: Mapping[str, Any]) -> ReadingOptions:
        """Return the options as they were typed in a command."""
        return cls(
            texts["base"],
            texts["closure"],
            read_option_names(texts["ignore"]) if texts["ignore"] else (),
            texts["density"],
            read_option_assignments(texts["argument"] or []),
        )

    def refuse_for_gallery(self, source: str) -> None:
        """Raise where an option is given that no mechanism of the gallery has."""
        kinds = {
            "--base": (self.base, "URDF files"),
            "--ignore": (self.ignore, "MJCF files"),
            "--density": (self.density, "URDF and xacro files"),
            "--arg": (self.arguments, "xacro files"),
        }
        for option, (value, kind) in kinds.items():
            if value:
                raise FileError(f"{option} is for {kind}", where=source, remedy="leave it out")


def read_mechanism_argument(source: str, reading: ReadingOptions | None = None) -> Mechanism:
    """Return the mechanism that FILE and the options of its reading describe."""
    reading = reading or ReadingOptions()
    closure, mechanism = reading.closure, _load_file_argument(source, reading)
    if closure is not None and not (mechanism.loops or mechanism.constraints):
        raise LinkwrightError(
            "--closure is for mechanisms with loops or constraints",
            where=source,
            remedy="leave it out",
        )
    return mechanism.with_closure(closure)


def _load_file_argument(source: str, reading: ReadingOptions) -> Mechanism:
    """Read the file, or take the mechanism of this name from the gallery."""
    from ..files import gallery, load
    from ..mechanism.gallery_files import find_gallery_family, gallery_names, read_gallery_file

    known = source in gallery_names() or source.startswith("chain-") or find_gallery_family(source)
    if not known and _is_gallery_argument(source):
        is_near = get_close_matches(source, gallery_names())
        raise FileError(
            "no such file, nor a mechanism of this name in the gallery",
            where=source,
            remedy=suggest_remedy(source, gallery_names()) if is_near else "see linkwright gallery",
        )
    if not known or os.path.isfile(source):
        return load(
            Path(source),
            base=reading.base,
            ignore=reading.ignore,
            density=reading.density,
            arguments=reading.arguments or None,
        )
    reading.refuse_for_gallery(source)
    read_gallery_file(source)
    return gallery(source)


def _is_gallery_argument(source: str) -> bool:
    """Return whether a text that names no file has neither folder nor ending."""
    is_word = Path(source).name == source and not Path(source).suffix
    return is_word and bool(source) and not os.path.lexists(source)
