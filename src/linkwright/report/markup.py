"""HTML that escapes whatever is not known to be HTML: names in files are not to be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Html(str):
    """Text that is HTML already; all other text is escaped where it is filled in."""

    __slots__ = ()


def html(template: str, *values: object) -> Html:
    """The template with each {} filled in, escaped."""
    return Html(template.format(*(safe(value) for value in values)))


def safe(value: object) -> Html:
    return value if isinstance(value, Html) else Html(escape(str(value)))


def joined(parts: Iterable[object]) -> Html:
    return Html("".join(safe(part) for part in parts))


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    """A table that scrolls by itself where the page is narrow."""
    top = joined(html("<th>{}</th>", cell) for cell in head)
    body = joined(
        html("<tr>{}</tr>", joined(html("<td>{}</td>", cell) for cell in row)) for row in rows
    )
    return html(
        '<div class="scroll"><table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>',
        top, body,
    )  # fmt: skip


def details(summary: str, inner: Html, kind: str = "shown") -> Html:
    """What unfolds, and is unfolded in print unless its kind is a `source`."""
    return html('<details class="{}"><summary>{}</summary>{}</details>', kind, summary, inner)


def copied(text: str) -> Html:
    """Text as it is, with a button that copies it."""
    return html('<div class="copy"><button type="button">Copy</button><pre>{}</pre></div>', text)
