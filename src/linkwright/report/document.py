"""The page: sections put together, with everything it needs in it, and how to make it again."""

from __future__ import annotations

import base64
import hashlib
import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from .. import __version__
from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest
from ..files import write
from ..formulations import formulation
from ..mechanism import Mechanism, names_of
from .description import describe
from .markup import Html, copied, details, html, joined
from .parts import COMPARED, Moved, beginning, exactly, made, motion_words, start_words
from .sections import (
    checks_section,
    comparison_section,
    equations_section,
    mechanism_section,
    motion_section,
    section,
    titled,
)

_PACKAGES = ("casadi", "numpy", "scipy", "llvmlite")
_MOST_TEXT = 60_000
"""Characters of a mechanism's own file that still stand on the page."""
_SECTIONS = {
    "mechanism": "Mechanism", "equations": "Equations", "checks": "Verification",
    "motion": "Motion", "formulations": "Formulations", "again": "Make it again",
}  # fmt: skip


def page(
    mechanism: Mechanism,
    file: str | None = None,
    duration: float = 5.0,
    q0: Mapping[str, float] | None = None,
    budget: float = 20.0,
    by: Sequence[str] | None = None,
    base: str | None = None,
) -> str:
    """The HTML of a page about a mechanism that was read from `file` (with the `base` that was
    asked for); formulations `by` are compared (all unless said). Each part may take `budget`
    seconds; what needs more is left out, and said so."""
    names = names_of(mechanism)
    if names.nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no joint with a freedom",
            remedy="add one, or unlock one",
        )
    if not (0 < duration < 1e6 and 0 < budget < 1e6):
        raise LinkwrightError(
            f"{duration:g} s of motion within {budget:g} s", remedy="give seconds above 0"
        )
    start = dict(q0 or {})
    for one in start:
        if one not in names.q:
            raise NameNotFoundError(
                f"there is no coordinate '{one}'", remedy=suggest(one, list(names.q))
            )
    for one in by or ():
        formulation(one)
    parts = made(mechanism, duration, start, budget, by)
    moved = parts.motion if isinstance(parts.motion, Moved) else None
    at = (moved.run.q[0], beginning(start)) if moved and start else ()
    name = shlex.quote(Path(file).name if file else f"{mechanism.name}.toml")
    name += f" --base {shlex.quote(base)}" if base else ""
    again = Commands.of(name, moved, duration, start, budget, by)
    info = describe(mechanism)
    held = bool(mechanism.loops or mechanism.constraints)
    links = joined(html('<a href="#{}">{}</a>', mark, title) for mark, title in _SECTIONS.items())
    body = joined(
        [
            titled(mechanism.name, info),
            html("<nav>{}</nav>", links),
            mechanism_section(mechanism, info, *at),
            equations_section(parts.equations, held, name),
            checks_section(parts.checks, name),
            motion_section(parts.motion, again.simulate),
            comparison_section(parts.comparison, again.compare),
            _again(mechanism, name, again),
        ]
    )
    return whole(mechanism.name, body)


@dataclass(frozen=True)
class Commands:
    """What makes the page and its parts again, with all that was asked for."""

    report: str
    simulate: str
    compare: str

    @classmethod
    def of(
        cls,
        file: str,
        moved: Moved | None,
        duration: float,
        q0: Mapping[str, float],
        budget: float,
        by: Sequence[str] | None,
    ) -> Commands:
        chosen = f" --by {','.join(by)}" if by else ""
        time, words = exactly(duration), moved.words if moved else motion_words(duration, q0)
        compared = f"-t {exactly(min(duration, COMPARED))} --budget {exactly(budget / 2)}"
        return cls(
            f"linkwright report {file}{''.join(start_words(q0))} -t {time}{chosen} "
            f"--budget {exactly(budget)} -o report.html",
            f"linkwright simulate {file}{words} -o run.nc",
            f"linkwright compare {file}{chosen} {compared}",
        )


def _again(mechanism: Mechanism, file: str, again: Commands) -> Html:
    commands = [
        f"pip install 'linkwright[show]=={__version__}'",
        again.report,
        f"linkwright derive {file} --as latex",
        f"linkwright verify {file}",
        again.simulate,
        again.compare,
    ]
    made_with = ", ".join(f"{package} {version(package)}" for package in _PACKAGES)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    said = html(
        "<p>Made on {} by linkwright {} with Python {}, {}, on {} {}. The mechanism’s SHA-256 is "
        "<code>{}</code>.</p>",
        when, __version__, platform.python_version(), made_with, platform.system(),
        platform.machine(), mechanism.digest,
    )  # fmt: skip
    return section("again", "Make it again", copied("\n".join(commands)), said, _own(mechanism))


def _own(mechanism: Mechanism) -> Html:
    """The mechanism's file, so that the page alone is enough."""
    text, lost = write(mechanism, "toml")
    if len(text) > _MOST_TEXT:
        return html(
            '<p class="left-out">Left out: the mechanism’s file, {} characters.</p>', len(text)
        )
    notes = joined(html("<li>not in it: {}</li>", what) for what in lost)
    inner = joined([copied(text), html("<ul>{}</ul>", notes) if lost else Html("")])
    return details("The mechanism as a file (.toml)", inner, "source")


def whole(title: str, body: Html) -> str:
    """The document; its policy lets nothing be fetched and no script run but those put here."""
    here = files(__package__)
    style = (here / "page.css").read_text(encoding="utf-8")
    script = (here / "page.js").read_text(encoding="utf-8")
    scripts = [*re.findall(r"<script>(.*?)</script>", body, re.S), script]
    allowed = " ".join(f"'sha256-{_hash(text)}'" for text in dict.fromkeys(scripts))
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        + html('<meta http-equiv="Content-Security-Policy" content="{}">', policy)
        + '<meta name="viewport" content="width=device-width, initial-scale=1">'
        + html("<title>{}</title>", title)
        + f"<style>\n{style}</style></head>\n"
        + f"<body>\n{body}\n<script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
