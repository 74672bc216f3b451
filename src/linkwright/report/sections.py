"""The sections of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import LinkwrightError
from ..expressions.typeset import MathmlSetter, Typesetter
from ..forms.sheet import CONSTRAINED, EQUATION
from ..mechanism import Mechanism
from ..show import animation_element, cyclograph, figure_of, plot, svg
from ..study import Comparison
from ..verification.report import Report
from .markup import Html, copied, details, html, joined, safe, table
from .parts import LeftOut, Moved, Written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = 40
"""Rows of tables about the mechanism."""
FOLDED = 12
"""Joints that are shown at once."""
TRACES = 4
"""Frames whose traces are drawn."""
LINES = 8
"""Coordinates that a plot can show."""
PRINTED = 84
"""Characters of an equation that fit on a printed line."""


def section(mark: str, title: str, *parts: Html) -> Html:
    return html('<section id="{}"><h2>{}</h2>{}</section>', mark, title, joined(parts))


def left_out(part: LeftOut, command: str) -> Html:
    return html(
        '<p class="left-out">Left out: {}. To have it: <code>{}</code></p>', part.why, command
    )


def picture(figure: Figure, caption: str, mark: str) -> Html:
    """Inline, its identities made its own."""
    text = re.sub(r'\bid="', f'id="{mark}-', svg(figure))
    text = re.sub(r'(url\(#|href="#)', rf"\1{mark}-", text)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    return html("<figure>{}<figcaption>{}</figcaption></figure>", Html(text), caption)


def mechanism_section(
    mechanism: Mechanism, info: dict[str, Any], q: Any = None, where: str = "home"
) -> Html:
    """What it is made of; drawn at q, which is called `where`."""
    parts = [_drawn(mechanism, q, where)]
    rows = [
        (name, joint["type"], f"{joint['parent']} → {joint['child']}", _mass(info, joint["child"]),
         joint["note"])
        for name, joint in info["joints"].items()
    ]  # fmt: skip
    joints = _limited(("joint", "type", "from → to", "mass / kg", ""), rows, "joints")
    parts.append(details(f"{len(rows)} joints", joints) if len(rows) > FOLDED else joints)
    ends = [(n, kind, f"{a} → {b}") for n, (kind, a, b) in info["loops"].items()]
    if ends:
        parts.append(_limited(("loop", "type", "closes"), ends, "loops"))
    if info["constraints"]:
        kinds = list(info["constraints"].items())
        parts.append(_limited(("constraint", "type"), kinds, "constraints"))
    if info["mobility"]:
        said = info["mobility"].get("text") or info["mobility"]["why"]
        parts.append(html('<p class="note">{}</p>', said))
    numbers = [(k, f"{v['value']:.6g}", v["as_written"]) for k, v in info["parameters"].items()]
    if numbers:
        shown = _limited(("parameter", "value (SI)", "as written"), numbers, "parameters")
        parts.append(details(f"{len(numbers)} parameters", shown))
    for title, key in (("Warnings", "warnings"), ("In the file, but not used", "unused")):
        if info[key]:
            lines = joined(html("<li>{}</li>", line) for line in info[key][:ROWS])
            parts.append(details(f"{title}: {len(info[key])}", html("<ul>{}</ul>", lines)))
    return section("mechanism", "Mechanism", *parts)


def _mass(info: dict[str, Any], body: str) -> str:
    return f"{info['bodies'][body]['mass']:.4g}" if body in info["bodies"] else ""


def _drawn(mechanism: Mechanism, q: Any, where: str) -> Html:
    try:
        drawing = figure_of(mechanism, q, names=len(mechanism.joints) <= LINES, width=110)
    except LinkwrightError as error:
        return html('<p class="left-out">No picture: {}</p>', error)
    caption = f"At {where}, drawn to scale; shapes follow from the positions of the joints."
    return picture(drawing, caption, "home")


def _limited(head: Sequence[str], rows: Sequence[Sequence[object]], what: str) -> Html:
    found = table(head, rows[:ROWS])
    if len(rows) <= ROWS:
        return found
    more = html('<p class="note">… and {} more {}.</p>', len(rows) - ROWS, what)
    return joined([found, more])


def equations_section(found: tuple[Written, ...] | LeftOut, held: bool, file: str) -> Html:
    command = f"linkwright derive {file} --as latex"
    general = html("<p>{}</p>", EQUATION + (CONSTRAINED if held else ""))
    if isinstance(found, LeftOut):
        return section("equations", "Equations of motion", general, left_out(found, command))
    parts = [general]
    for one in found:
        parts.append(html("<h3>{} <small>({}, {})</small></h3>", one.name, one.what, one.size))
        if not one.mathml:
            why = LeftOut("in closed form it is longer than some pages")
            parts.append(left_out(why, f"{command} --what {one.name}"))
            continue
        fit = min(1.0, PRINTED / max(1, one.longest))
        whole = html(
            '<div class="equations" style="--fit:{}">{}</div>', f"{fit:.2f}", Html(one.mathml)
        )
        parts.append(details("Show all of it", whole) if one.is_long else whole)
        parts.append(details("LaTeX", copied(one.latex), "source"))
    parts.append(_symbols(found))
    return section("equations", "Equations of motion", *parts)


def _symbols(found: Sequence[Written]) -> Html:
    """Every parameter in the equations shown, with its value."""
    setter = Typesetter(MathmlSetter(), {})
    rows = [
        (html("<math>{}</math>", Html(setter.name(name))), name, f"{value:.6g}", meaning)
        for name, value, meaning in dict.fromkeys(s for one in found for s in one.symbols)
    ]
    if not rows:
        return Html("")
    head = ("symbol", "name", "value (SI)", "")
    return details(f"{len(rows)} symbols in these equations", table(head, rows))


def checks_section(found: Report | LeftOut, file: str) -> Html:
    title = "Verification"
    if isinstance(found, LeftOut):
        return section("checks", title, left_out(found, f"linkwright verify {file}"))
    rows = [
        (html('<span class="{}">{}</span>', one.verdict, one.verdict), one.name, one.figure,
         one.meaning)
        for one in found.checks
    ]  # fmt: skip
    count = len(found.failed)
    verdict = f"{count} of {len(found.checks)} checks failed." if count else "All checks passed."
    lead = html(
        '<p><span class="{}">{}</span> “Proved” holds for all states and all values of the '
        "parameters.</p>",
        "failed" if count else "passed", verdict,
    )  # fmt: skip
    whole = table(("", "check", "figure", "meaning"), rows)
    return section("checks", title, lead, html('<div class="checks">{}</div>', whole))


def motion_section(found: Moved | LeftOut, command: str) -> Html:
    title = "Motion"
    if isinstance(found, LeftOut):
        return section("motion", title, left_out(found, command))
    run = found.run
    if len(run.t) < 2:
        return section("motion", title, left_out(LeftOut(run.status), command))
    said = [*found.notes, run.status, f"energy accounted for to {run.audit:.1e}"]
    if run.closure.any():
        said.append(f"loops and constraints held to {run.closure.max():.1e}")
    parts = [html("<p>{} s {}.</p>", f"{run.t[-1]:g}", "; ".join(said)), _events(run)]
    parts.append(Html(animation_element(run, trace=_traced(run), identity="motion-drawing")))
    parts.append(html('<div class="figures">{}</div>', joined(_plots(run))))
    return section("motion", title, *parts)


def _events(run: Any) -> Html:
    """What happened on the way."""
    if not run.events:
        return Html("")
    rows = [(f"{event.t:.4g}", event.name, event.what) for event in run.events]
    shown = _limited(("t / s", "where", "what"), rows, "events")
    return details(f"{len(rows)} events", shown)


def _plots(run: Any) -> list[Html]:
    from ..mechanism import names_of

    names = names_of(run.mechanism)
    every = None if len(run.mechanism.joints) <= FOLDED else float(run.t[-1]) / 9
    note = f" (the first {LINES} of {len(names.q)})" if len(names.q) > LINES else ""
    return [
        picture(plot(run, "q", only=_first(names.q), width=110), f"Coordinates{note}.", "q"),
        picture(plot(run, "qd", only=_first(names.qd), width=110), "Speeds.", "qd"),
        picture(plot(run, "energy", width=110), "Energies.", "energy"),
        picture(
            cyclograph(run, every, _traced(run), width=110),
            "Positions at equal intervals.",
            "positions",
        ),
    ]


def _traced(run: Any) -> list[str] | None:
    """No traces where there would be many; all that move else."""
    return None if len(run.mechanism.frames) <= TRACES else []


def _first(names: Sequence[str]) -> list[str]:
    """As many as a plot can show; none means all."""
    return list(names)[:LINES] if len(names) > LINES else []


def comparison_section(found: Comparison | LeftOut, command: str) -> Html:
    title = "Formulations side by side"
    if isinstance(found, LeftOut):
        return section("formulations", title, left_out(found, command))
    notes = joined(html("<li>{}</li>", note) for note in found.notes())
    if not found.rows:
        nothing = LeftOut("none was measured in time")
        return section(
            "formulations", title, left_out(nothing, command), html("<ul>{}</ul>", notes)
        )
    shown = found.table()
    lead = html(
        "<p>Times are seconds of the processor on the machine that made this page; the ratios "
        "of those to derive and to evaluate are what counts. Integration is by the simulator in "
        "each formulation’s own states, to the same accuracy.</p>"
    )
    whole = html('<div class="numbers">{}</div>', table(shown.head, shown.rows))
    drawing = picture(found.figure(), "Cost of each formulation.", "cost")
    return section(
        "formulations", title, lead, whole, html('<ul class="note">{}</ul>', notes), drawing
    )


def titled(name: str, info: dict[str, Any]) -> Html:
    free = "an unknown number of" if info["freedom"] is None else info["freedom"]
    said = (
        f"{len(info['bodies'])} bodies, {len(info['joints'])} joints, {free} "
        f"freedom{'' if info['freedom'] == 1 else 's'}, {info['total_mass']:.4g} kg"
    )
    return html('<h1>{}</h1><p class="lead">{}</p>', name, safe(said))
