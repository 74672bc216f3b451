"""The mechanism that a FILE argument names: a file, or a mechanism of the gallery."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileError, LinkwrightError, suggest_remedy

if TYPE_CHECKING:
    from ..mechanism import Mechanism


def read_mechanism_argument(
    source: str, base: str | None, closure: float | None, ignore: Sequence[str] = ()
) -> Mechanism:
    """Return the mechanism that FILE, `--base`, `--closure` and `--ignore` describe."""
    mechanism = _load_file_argument(source, base, ignore)
    if closure is not None and not (mechanism.loops or mechanism.constraints):
        raise LinkwrightError(
            "--closure is for mechanisms with loops or constraints",
            where=source,
            remedy="leave it out",
        )
    return mechanism.with_closure(closure)


def _load_file_argument(source: str, base: str | None, ignore: Sequence[str]) -> Mechanism:
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
        return load(Path(source), base=base, ignore=ignore)
    if base is not None:
        raise FileError("--base is for URDF files", where=source, remedy="leave it out")
    if ignore:
        raise FileError("--ignore is for MJCF files", where=source, remedy="leave it out")
    read_gallery_file(source)
    return gallery(source)


def _is_gallery_argument(source: str) -> bool:
    """Return whether a text that names no file has neither folder nor ending."""
    is_word = Path(source).name == source and not Path(source).suffix
    return is_word and bool(source) and not os.path.lexists(source)
