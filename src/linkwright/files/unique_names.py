"""Names for elements that have none in a file, or whose name is in use."""

from __future__ import annotations

from collections.abc import Container


def make_unique_element_name(wanted: str, taken: Container[str]) -> str:
    """Return the wanted name, lengthened by underscores until it is not taken."""
    while wanted in taken:
        wanted += "_"
    return wanted
