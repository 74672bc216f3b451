"""The file formats that `load` reads: one row for each, with its file ending and its reader.

Readers are imported when a file needs them. docs/extend/file-format.md adds a row, step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError
from ..mechanism import Mechanism


@dataclass(frozen=True)
class FileContent:
    """The text of a mechanism file, its path (None for bare text), and the options of `load`."""

    text: str
    path: Path | None = None
    base: str | None = None
    convention: str | None = None
    density: float | str | None = None
    arguments: Mapping[str, str] | None = None
    ignore: tuple[str, ...] | None = None


@dataclass(frozen=True)
class FileFormat:
    """A format that `load` reads.

    `options` are those of `load` that apply to it. The name of a file decides its format unless
    `has_shared_ending`: a `.xml` file may also be URDF, so its content decides.
    """

    name: str
    ending: str
    read: Callable[[FileContent], Mechanism]
    options: tuple[str, ...] = ()
    has_shared_ending: bool = False


def _read_toml_file(content: FileContent) -> Mechanism:
    from .toml_reader import read_toml

    return read_toml(content.text, content.path)


def _read_urdf_file(content: FileContent) -> Mechanism:
    from .urdf_reader import read_urdf

    return read_urdf(content.text, content.base or "fixed", content.path, content.density)


def _read_xacro_file(content: FileContent) -> Mechanism:
    from .xacro_reader import read_xacro

    assert content.path is not None  # a file's name decides that it is xacro
    return read_xacro(content.path, content.base or "fixed", content.density, content.arguments)


def _read_mjcf_file(content: FileContent) -> Mechanism:
    from .mjcf_reader import read_mjcf

    return read_mjcf(content.text, content.path, content.ignore or ())


def _read_sdf_file(content: FileContent) -> Mechanism:
    from .sdf_reader import read_sdf

    return read_sdf(content.text, content.path)


def _read_dh_toml_file(content: FileContent) -> Mechanism:
    from .dh_reader import read_dh_toml

    return read_dh_toml(content.text, content.convention)


def _read_dh_csv_file(content: FileContent) -> Mechanism:
    from .dh_csv_reader import read_dh_csv

    return read_dh_csv(content.text, content.convention)


FILE_FORMATS: dict[str, FileFormat] = {
    row.name: row
    for row in (
        FileFormat("toml", ".toml", _read_toml_file),
        FileFormat("urdf", ".urdf", _read_urdf_file, options=("base", "density")),
        FileFormat("xacro", ".xacro", _read_xacro_file, options=("base", "density", "arguments")),
        FileFormat("mjcf", ".xml", _read_mjcf_file, options=("ignore",), has_shared_ending=True),
        FileFormat("sdf", ".sdf", _read_sdf_file),
        FileFormat("dh.toml", ".dh.toml", _read_dh_toml_file, options=("convention",)),
        FileFormat("dh.csv", ".dh.csv", _read_dh_csv_file, options=("convention",)),
    )
}
"""The rows by the names of the formats."""

_FORMATS_OF_ROOT_TAGS = {"mujoco": "mjcf", "mujocoinclude": "mjcf", "sdf": "sdf"}
"""The formats of XML files by their root element; all others are taken as URDF."""


def file_endings_in_words() -> str:
    """Return the endings of all formats: ".toml, .urdf, … or .dh.csv"."""
    *others, last = (row.ending for row in FILE_FORMATS.values())
    return f"{', '.join(others)} or {last}"


def format_of_file_name(name: str) -> FileFormat | None:
    """Return the format with the longest ending that the file name has; None if it decides none."""
    rows = [row for row in FILE_FORMATS.values() if not row.has_shared_ending]
    fitting = [row for row in rows if name.endswith(row.ending)]
    return max(fitting, key=lambda row: len(row.ending), default=None)


def detect_file_format(text: str, name: str) -> FileFormat:
    """Return the format of a file by its name, else by its content (`name` "": bare text)."""
    named = format_of_file_name(name)
    if named is not None:
        return named
    if text.lstrip().startswith("<"):
        from .xml_reader import read_xml

        tag = read_xml(text).tag
        return FILE_FORMATS[_FORMATS_OF_ROOT_TAGS.get(tag, "urdf")]
    if "." in name:
        raise FileError("is not a known kind of file", remedy=f"use {file_endings_in_words()}")
    if "[[links]]" in text:
        return FILE_FORMATS["dh.toml"]
    return FILE_FORMATS["dh.csv" if _has_dh_csv_header(text) else "toml"]


def _has_dh_csv_header(text: str) -> bool:
    """Return whether the first line that is not a comment is the header of a table with `alpha`.

    The first line of TOML sets a key or opens a table, so it has "=" or begins with "[".
    """
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    return "alpha" in first and "," in first and "=" not in first and not first.startswith("[")
