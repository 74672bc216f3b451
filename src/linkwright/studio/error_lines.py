"""The line of a file that an error is about: as it says, or where its table and key stand."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import LinkwrightError

_LINE_NUMBER = re.compile(r"\bline (\d+)")
_FILE_ENDINGS = (".toml", ".csv", ".urdf", ".xacro", ".xml", ".sdf")
_QUOTED = re.compile(r"'([^']+)'")


def find_error_line(text: str, error: LinkwrightError) -> int | None:
    """Return the number of the line, from 1, that an error of a file is about; None if unknown.

    Parsers of TOML and XML say the line. Other errors name a table such as `bodies.link1` and quote
    a key: then it is the line of the key in the table, or that of the table.
    """
    said = _LINE_NUMBER.search(f"{error.what} {error.where}")
    lines = text.splitlines()
    if said:
        return max(1, min(int(said[1]), len(lines) or 1))
    quoted = _QUOTED.findall(f"{error.what} {error.where}")
    places = [place for place in error.where.split(": ") if not place.endswith(_FILE_ENDINGS)]
    for place in (*reversed(places), ""):
        found = _find_toml_place(lines, place.strip().split("."), quoted)
        if found is not None:
            return found
    for name in (
        *quoted,
        *(word for place in reversed(places) for word in re.split(r"[. ]", place)),
    ):
        found = _find_attribute(lines, name)
        if found is not None:
            return found
    return None


def _find_toml_place(
    lines: Sequence[str], path: Sequence[str], quoted: Sequence[str]
) -> int | None:
    """The line of a key in the table that a path names, or of the table's head."""
    for depth in range(len(path), 0, -1):
        head = _find_table(lines, path[:depth])
        if head is None:
            continue
        keys = [*path[depth:], *quoted]
        inside = _find_key(lines, head + 1, keys)
        return (head if inside is None else inside) + 1
    found = _find_key(lines, 0, [*path, *quoted])
    if found is None:
        heads = [_find_tables_of(lines, name) for name in quoted]
        found = next((head for head in heads if head is not None), None)
    return None if found is None else found + 1


def _find_table(lines: Sequence[str], path: Sequence[str]) -> int | None:
    """The index of the line [a.b] or [[a.b]]."""
    names = r"\s*\.\s*".join(rf"[\"']?{re.escape(name.strip())}[\"']?" for name in path)
    head = re.compile(rf"^\s*\[\[?\s*{names}\s*\]\]?")
    return next((k for k, line in enumerate(lines) if head.match(line)), None)


def _find_tables_of(lines: Sequence[str], name: str) -> int | None:
    """The index of the first line [name] or [name.…]."""
    head = re.compile(rf"^\s*\[\[?\s*[\"']?{re.escape(name)}[\"']?\s*[.\]]")
    return next((k for k, line in enumerate(lines) if head.match(line)), None)


def _find_key(lines: Sequence[str], begin: int, keys: Sequence[str]) -> int | None:
    """The index of the first line of a table that sets one of these keys."""
    for k in range(begin, len(lines)):
        if re.match(r"^\s*\[", lines[k]) and k >= begin and begin > 0:
            return None
        for key in keys:
            if key and re.match(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", lines[k]):
                return k
    return None


def _find_attribute(lines: Sequence[str], name: str) -> int | None:
    """The line on which an element of XML has this name."""
    if not name:
        return None
    named = re.compile(rf"\bname\s*=\s*[\"']{re.escape(name)}[\"']")
    return next((k + 1 for k, line in enumerate(lines) if named.search(line)), None)
