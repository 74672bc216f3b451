"""Readers of files: mechanisms from TOML, URDF, SDF, MJCF and Denavit–Hartenberg tables."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import overload

from ..errors import ArgumentError, FileError, LinkwrightError, type_in_words
from ..mechanism import Mechanism
from ..mechanism.gallery_files import build_gallery_member, gallery_names, read_gallery_file
from .file_formats import FileContent, detect_file_format

MAX_FILE_BYTES = 16 * 2**20
_FILES_OF_OPTIONS = {
    "base": ("URDF and xacro files", "state it in the joints of the file"),
    "convention": ("Denavit–Hartenberg tables", "leave it out"),
    "density": ("URDF and xacro files", "state it in the bodies of the file"),
    "arguments": ("xacro files", "leave it out"),
    "ignore": ("MJCF files", "leave it out"),
}
"""The files to which an option of `load` applies, and what to do for others."""


def load(
    source: str | Path,
    *,
    base: str | None = None,
    convention: str | None = None,
    strict: bool = False,
    closure: float | None = None,
    density: float | str | None = None,
    arguments: Mapping[str, str] | None = None,
    ignore: Sequence[str] = (),
) -> Mechanism:
    """Return a mechanism from a file, or from its text.

    `.toml` is the format of Linkwright, `.urdf` URDF, `.xacro` URDF with macros (extra `[ros]`;
    xacro evaluates Python expressions in the file: load only files that you trust), `.xml` MJCF
    (or URDF), `.sdf` SDF, `.dh.toml` and `.dh.csv` are Denavit–Hartenberg tables.

    Parameters
    ----------
    source : str or Path
        A path, or the text of a file.
    base : str, optional
        "free" lets the root of a URDF float (default: fixed to ground).
    convention : str, optional
        "standard" or "modified", for Denavit–Hartenberg tables that do not state it.
    strict : bool
        Raise an error, not a warning, for unphysical inertia.
    closure : float, optional
        Tolerance of nearly redundant constraints, relative to their size (default: the file's, or
        1e-6).
    density : float or str, optional
        kg/m³, or text with a unit, "2.7 g/cm^3": links of a URDF without <inertial> get mass and
        inertia of their shapes, and `mechanism.bodies[…].inertia_from` says so (default: they have
        no mass).
    arguments : mapping of names to text, optional
        Values for the `<xacro:arg>` of a xacro file.
    ignore : sequence of str
        Parts of an MJCF file to leave out: "fluid", "flexes", "tendons", "plugins", … (see
        docs/reference/format.md). `Mechanism.unused` lists them.

    Returns
    -------
    Mechanism
        The mechanism, validated.

    Raises
    ------
    LinkwrightError
        If the file cannot be read; the message names the place and a remedy.

    Examples
    --------
    >>> import linkwright as lw
    >>> text = '''
    ... [bodies.bob]
    ... mass = 1.0
    ... center = [0, 0, -0.5]
    ... [joints.swing]
    ... type = "revolute"
    ... axis = [0, 1, 0]
    ... child = "bob"
    ... '''
    >>> list(lw.load(text).bodies)
    ['bob']
    """
    if not isinstance(source, str | os.PathLike):
        made = "Mechanism(**table)" if isinstance(source, dict) else 'load("robot.urdf")'
        raise ArgumentError(
            f"{type_in_words(source)} is not a file or its text", remedy=f"write {made}"
        )
    ignored = (ignore,) if isinstance(ignore, str) else tuple(ignore) or None
    options = (base, convention, density, arguments, ignored)
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("<")):
        mechanism = _read_mechanism_text(FileContent(_check_file_text(source), None, *options), "")
        return mechanism.with_closure(closure).checked(strict)
    if "\0" in str(source):
        raise FileError(
            "is not a valid file name", where=repr(str(source)), remedy="check the path"
        )
    path = Path(source)
    try:
        mechanism = _read_mechanism_text(
            FileContent(_read_file_content(path), path, *options), path.name.lower()
        )
        return mechanism.with_closure(closure).checked(strict)
    except LinkwrightError as error:
        raise error.within(str(path)) from None


def read_toml_numbers(path: str | Path) -> dict[str, object]:
    """Return the table of a TOML file that is not a mechanism, with decimals as floats."""
    from .toml_reader import read_toml_table

    return {
        key: _toml_decimals_to_floats(value)
        for key, value in read_toml_table(_read_file_content(Path(path))).items()
    }


def _toml_decimals_to_floats(value: object) -> object:
    """Return a TOML value with all decimals in it, also in lists and tables, as floats."""
    if isinstance(value, dict):
        return {key: _toml_decimals_to_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_toml_decimals_to_floats(item) for item in value]
    return float(value) if isinstance(value, Decimal) else value


@overload
def gallery(name: None = None) -> list[str]: ...
@overload
def gallery(name: str) -> Mechanism: ...
def gallery(name: str | None = None) -> Mechanism | list[str]:
    """Return a mechanism of the gallery by name, or the list of names.

    Parameters
    ----------
    name : str, optional
        A name such as "elbow", "four-bar" or "cart-pole" (default: the list of all names).

    Returns
    -------
    Mechanism or list of str
        The mechanism; without a name, all names.

    Examples
    --------
    >>> import linkwright as lw
    >>> list(lw.gallery("elbow").joints)
    ['q1', 'q2']
    """
    if name is None:
        return gallery_names()
    if not isinstance(name, str):
        raise ArgumentError(
            f"{name!r} is not the name of a gallery mechanism",
            remedy="call gallery() for the list of names",
        )
    return _load_gallery_mechanism(name)


@lru_cache(maxsize=64)
def _load_gallery_mechanism(name: str) -> Mechanism:
    """Return a mechanism of the gallery, read once: mechanisms are immutable."""
    stored = read_gallery_file(name)
    if stored is None:
        return build_gallery_member(name)
    file, text = stored
    return _read_mechanism_text(FileContent(text), file)


def _read_file_content(path: Path) -> str:
    """Return the text of a regular UTF-8 file within the size limit."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise FileError("is a folder", remedy="name a file")
        if not stat.S_ISREG(about.st_mode):
            raise FileError("is a pipe or device", remedy="copy it to a file, and name that")
        _check_mechanism_file_size(about.st_size)
        with path.open("rb") as file:  # some files of the system are longer than they say
            data = file.read(MAX_FILE_BYTES + 1)
        _check_mechanism_file_size(len(data))
        return data.decode("utf-8-sig")
    except FileNotFoundError:
        raise FileError("no such file", remedy="check the path") from None
    except UnicodeDecodeError:
        raise FileError("is not UTF-8 text", remedy="name a mechanism file") from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}") from None


def _check_mechanism_file_size(size: int) -> None:
    """Raise where a file is larger than `MAX_FILE_BYTES`."""
    if size > MAX_FILE_BYTES:
        limit = MAX_FILE_BYTES // 2**20
        raise FileError(f"is larger than {limit} MiB", remedy="reduce the file")


def _check_file_text(text: str) -> str:
    """Return the text itself; raise if it is too long or contains an unpaired surrogate."""
    _check_mechanism_file_size(len(text))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FileError("contains an unpaired surrogate", where=f"line {line}") from None
    return text


def _read_mechanism_text(content: FileContent, name: str) -> Mechanism:
    """Return the mechanism in a text; `name` is its file's, lower case, or "" for bare text."""
    found = detect_file_format(content.text, name)
    for option, (files, remedy) in _FILES_OF_OPTIONS.items():
        if getattr(content, option) is not None and option not in found.options:
            raise FileError(f"{option}= is for {files}", remedy=remedy)
    return found.read(content)
