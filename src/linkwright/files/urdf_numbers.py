"""Numbers in attributes of URDF, exactly as written."""

from __future__ import annotations

import re

from ..errors import FileError
from .xml_reader import XmlElement

_DECIMAL_PATTERN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def read_urdf_numbers(
    element: XmlElement | None, attribute: str, count: int = 3
) -> list[str] | None:
    """Return the numbers of an attribute as text, exactly as written; None if it is absent."""
    if element is None or attribute not in element.attributes:
        return None
    words = element.attributes[attribute].split()
    if len(words) != count or not all(map(_DECIMAL_PATTERN.fullmatch, words)):
        raise FileError(
            f'{attribute}="{element.attributes[attribute][:40]}" is not {count} number(s)',
            where=f"line {element.line}",
            remedy=f"write {count} decimal number(s)",
        )
    return words


def read_urdf_number(element: XmlElement | None, attribute: str) -> str | None:
    """Return the number of an attribute as text; None if it is absent."""
    words = read_urdf_numbers(element, attribute, 1)
    return words[0] if words else None


def urdf_fields_present(**fields: object) -> dict[str, object]:
    """Return the fields that are neither None nor an empty table."""
    return {key: value for key, value in fields.items() if value not in (None, {})}


def read_urdf_origin(element: XmlElement | None) -> dict[str, object]:
    """Return the fields of a placement from an <origin> element."""
    return urdf_fields_present(
        xyz=read_urdf_numbers(element, "xyz"), rpy=read_urdf_numbers(element, "rpy")
    )
