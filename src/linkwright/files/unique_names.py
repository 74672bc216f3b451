"""Names that files leave to us, or that mean something else here."""

from __future__ import annotations

from collections.abc import Container


def make_unique_name(wanted: str, taken: Container[str]) -> str:
    """The wanted name, lengthened by underscores until nothing else is called so."""
    while wanted in taken:
        wanted += "_"
    return wanted
