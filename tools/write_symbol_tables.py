"""Write the list of symbols in docs/reference/checker.md from the checker's table of symbols.

Run this after a change of `linkwright.checking.symbol_table`; a test compares the page with the
table.

    python tools/write_symbol_tables.py
"""

from __future__ import annotations

from pathlib import Path

from linkwright.checking.symbol_table import SYMBOL_GROUPS

PAGE = Path(__file__).parents[1] / "docs/reference/checker.md"
BEGIN = "<!-- symbols: tools/write_symbol_tables.py writes them -->\n"
END = "<!-- end of the symbols -->\n"


def symbol_tables() -> str:
    """One table of Markdown: a line for each group, and one for each row."""
    lines = ["| symbol | meaning |", "|---|---|"]
    for title, rows in SYMBOL_GROUPS.items():
        lines.append(f"| **{title}** | |")
        for row in rows:
            lines.append(f"| {' '.join(f'`{name}`' for name in row.examples)} | {row.meaning} |")
    return "\n".join(lines) + "\n"


def page_with_symbols(page: str) -> str:
    """The page with the list in its place."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{symbol_tables()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_with_symbols(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
