"""The table of docs/reference/controllers.md is what is measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.control.tracking import NAMES, cells

PAGE = Path(__file__).parents[2] / "docs/reference/controllers.md"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_table_is_measured(name: str) -> None:
    text = re.search(rf"^\| `{name}` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert text is not None
    for printed, found in zip(text.group(1).split(" | "), cells(name), strict=True):
        if printed.startswith("<") or found.startswith("<"):
            assert printed == found
        else:
            assert float(found) == pytest.approx(float(printed), rel=0.06)
