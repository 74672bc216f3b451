"""`make golden`: run the Python blocks of docs/papers and write what they print below each of them.

A `text` block that follows a `python` block holds its output. `tests/papers/test_pages.py` compares
the two; after a change of what is printed, this command rewrites them, and the difference is read
before it is committed.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path

PAGES = sorted((Path(__file__).resolve().parent.parent / "docs/papers").glob("*.md"))
_BLOCKS = re.compile(r"```python\n(?P<code>.*?)```(\n\n```text\n(?P<output>.*?)```)?", re.S)


def run_page(text: str, name: str = "page") -> str:
    """The text of a page with the output of its Python blocks in the blocks that follow them."""
    names: dict[str, object] = {}

    def run_block(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found["code"], name, "exec"), names)
        output = printed.getvalue().rstrip("\n")
        below = f"\n\n```text\n{output}\n```" if output else ""
        return f"```python\n{found['code']}```{below}"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _BLOCKS.sub(run_block, text)


def main() -> None:
    for page in PAGES:
        page.write_text(run_page(page.read_text(encoding="utf-8"), page.name), encoding="utf-8")
        print(page.name)


if __name__ == "__main__":
    main()
