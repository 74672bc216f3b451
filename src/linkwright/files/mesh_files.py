"""Mesh files that URDF, SDF and TOML files name: package://, model:// and file:// addresses, and
paths relative to the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote


def find_mesh_file(name: str, path: Path | None) -> str:
    """Return the absolute path of a mesh that the file at `path` names; `name` if it is not
    found."""
    if path is None:
        return name
    try:
        for place in _mesh_file_places(name, path.resolve().parent):
            if place.is_file():
                return str(place.resolve())
    except (OSError, ValueError):  # a name that no file can have
        pass
    return name


def _mesh_file_places(name: str, folder: Path) -> Iterator[Path]:
    """Yield the places where a mesh may be: addresses are tried in all folders above the file."""
    scheme, has_scheme, rest = name.partition("://")
    if not has_scheme:
        yield folder / name
        return
    rest = unquote(rest)
    if scheme == "file":
        yield Path(rest)
        yield folder / rest
    if scheme not in ("package", "model"):
        return
    rest = rest.lstrip("/")  # some files write package:///name/…
    package, _, inner = rest.partition("/")
    for above in (folder, *folder.parents):
        yield above / rest
        if above.name == package or (above / "package.xml").is_file():
            yield above / inner
