"""Mechanisms as files of a format that `load` reads: TOML, URDF and MJCF."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

from ..errors import FileError, LossWarning
from ..files.file_formats import FILE_FORMATS, format_of_file_name
from ..files.partial_files import partial_file_name
from ..mechanism import Mechanism, require_mechanism


def save(mechanism: Mechanism, path: str | Path) -> None:
    """Write a mechanism to a file, and warn about what the format cannot hold.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism to write.
    path : str or Path
        The ending decides: `.toml`, `.urdf` or `.xml` (MJCF).

    Examples
    --------
    >>> import tempfile
    >>> import linkwright as lw
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lw.save(lw.gallery("elbow"), f"{folder}/elbow.toml")
    ...     lw.load(f"{folder}/elbow.toml") == lw.gallery("elbow")
    True
    """
    require_mechanism(mechanism)
    target = Path(path)
    ending = target.suffix.lower()
    written = (kind for kind in FORMAT_WRITERS if FILE_FORMATS[kind].ending == ending)
    kind = next(written, ending.removeprefix("."))
    check_written_file_name(target, kind)
    text, lost = write_mechanism_text(mechanism, kind)
    for what in lost:
        warnings.warn(f"{target.name}: {what}", LossWarning, stacklevel=2)
    partial = partial_file_name(target)
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    except ValueError:
        raise FileError("is not a valid file name", where=repr(str(target))) from None


def check_written_file_name(path: Path, kind: str) -> None:
    """Raise where `load` would read a file of this name as another format."""
    found = format_of_file_name(path.name.lower())
    if found is not None and found.name != kind:
        ending = FILE_FORMATS[kind].ending if kind in FILE_FORMATS else f".{kind}"
        raise FileError(
            f"is not a file name for {kind.upper()}",
            where=str(path),
            remedy=f"let it end in {ending} (and not in .dh{ending})",
        )


def _write_toml_text(mechanism: Mechanism) -> tuple[str, list[str]]:
    """Return the TOML text of a mechanism, which holds all of it."""
    from .toml_writer import write_toml

    return write_toml(mechanism), []


def _write_urdf_text(mechanism: Mechanism) -> tuple[str, list[str]]:
    """Return the URDF text of a mechanism, and what it lacks."""
    from .urdf_writer import write_urdf

    return write_urdf(mechanism)


def _write_mjcf_text(mechanism: Mechanism) -> tuple[str, list[str]]:
    """Return the MJCF text of a mechanism, and what it lacks."""
    from .mjcf_writer import write_mjcf

    return write_mjcf(mechanism)


FORMAT_WRITERS: dict[str, Callable[[Mechanism], tuple[str, list[str]]]] = {
    "toml": _write_toml_text,
    "urdf": _write_urdf_text,
    "mjcf": _write_mjcf_text,
}
"""Writers by the names of formats in `FILE_FORMATS`: they return the text, and what it lacks."""


def write_mechanism_text(mechanism: Mechanism, kind: str) -> tuple[str, list[str]]:
    """Return the mechanism's text in a format, and a list of what the format cannot hold."""
    if kind not in FORMAT_WRITERS:
        raise FileError(f"'{kind}' cannot be written", remedy=f"use {' or '.join(FORMAT_WRITERS)}")
    return FORMAT_WRITERS[kind](mechanism)
