"""The page of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..studies import Study


def write_study_page(study: Study, path: Path) -> Path:
    """Write the page."""
    raise NotImplementedError
