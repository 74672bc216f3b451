"""Reader of our own format, TOML. Numbers stay exactly as written."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from pathlib import Path

from ..errors import FileError, MechanismError, suggest_remedy
from ..mechanism import Mechanism
from .mesh_files import find_mesh_file
from .toml_order import read_constraint_order

FIELDS_NOT_IN_FILES = ("unused", "constraint_order")
"""Fields of a mechanism that are not keys of the format: files say them by what they contain."""
_TOML_KEY_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_TOML_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_TOML_KEY_PART}[ \t]*+\.[ \t]*+){{64}}")


def read_toml_table(text: str) -> dict[str, object]:
    """Return the parsed TOML with exact decimals; refuse first what would take tomllib very
    long."""
    deep = FileError("the TOML is nested too deeply", remedy="a mechanism has few levels")
    # its parser is recursive, and takes the square of the length of a dotted key
    if "[" * 200 in text or "{" * 200 in text or _LONG_TOML_KEY.search(text):
        raise deep
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"is not valid TOML: {error}") from None
    except ValueError:
        raise FileError("is not valid TOML: an integer has too many digits") from None
    except RecursionError:
        raise deep from None


def read_toml(text: str, path: Path | None = None) -> Mechanism:
    """Return the mechanism in the text of a TOML file; meshes are found near `path`."""
    table = read_toml_table(text)
    _find_meshes_of_table(table, path)
    for key in FIELDS_NOT_IN_FILES:
        if key in table:
            known = [name for name in Mechanism.model_fields if name not in FIELDS_NOT_IN_FILES]
            raise MechanismError(f"unknown key '{key}'", remedy=suggest_remedy(key, known))
    return Mechanism(**table, **read_constraint_order(text, table))


def _find_meshes_of_table(table: dict[str, object], path: Path | None) -> None:
    """Replace the names of mesh files in a table by their paths, where they are found."""
    bodies = table.get("bodies")
    bodies = [*bodies.values()] if isinstance(bodies, dict) else []
    lists = [body.get("shapes") for body in bodies if isinstance(body, dict)]
    for shapes in [*lists, table.get("ground_shapes")]:
        for shape in shapes if isinstance(shapes, list) else []:
            if isinstance(shape, dict) and isinstance(shape.get("file"), str):
                shape["file"] = find_mesh_file(shape["file"], path)
