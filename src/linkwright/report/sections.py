"""The sections of the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..comparison import Comparison
from ..errors import LinkwrightError
from ..expressions.typeset import MathmlSetter, Typesetter
from ..forms.sheet import equation_of
from ..mechanism import Mechanism, Names
from ..mechanism.gallery_files import headline
from ..show import animation_element, figure_of
from ..verification.report import Report
from .markup import Html, copied, details, html, joined, safe, table
from .motions import LeftOut, Moved
from .parts import Written
from .plots import LINES, WIDTH, picture, plots, traced
from .starts import is_of_gallery

ROWS = 40
"""Rows of tables about the mechanism."""
FOLDED = 12
"""Joints that are shown at once."""
LASTING = 3.0
"""Seconds that an animation lasts at least: what is over sooner is shown slower."""


def section(mark: str, title: str, *parts: Html) -> Html:
    return html('<section id="{}"><h2>{}</h2>{}</section>', mark, title, joined(parts))


def left_out(part: LeftOut, command: str) -> Html:
    return html(
        '<p class="left-out">Left out: {}. To have it: <code>{}</code></p>', part.why, command
    )


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
    head = ("joint", "type", "from → to", "mass / kg", "with")
    joints = _limited(*_used(head, rows), "joints")
    parts.append(details(counted(len(rows), "joint"), joints) if len(rows) > FOLDED else joints)
    ends = [(n, kind, f"{a} → {b}") for n, (kind, a, b) in info["loops"].items()]
    if ends:
        parts.append(_limited(("loop", "type", "closes"), ends, "loops"))
    if info["constraints"]:
        kinds = list(info["constraints"].items())
        parts.append(_limited(("constraint", "type"), kinds, "constraints"))
    if info["mobility"]:
        said = info["mobility"].get("text") or info["mobility"]["why"]
        lines = joined(html("<li>{}</li>", line.strip()) for line in said.splitlines())
        parts.append(html('<ul class="note">{}</ul>', lines))
    numbers = [(k, f"{v['value']:.6g}", v["as_written"]) for k, v in info["parameters"].items()]
    if numbers:
        shown = _limited(("parameter", "value (SI)", "as written"), numbers, "parameters")
        parts.append(details(counted(len(numbers), "parameter"), shown, "shown numbers-table"))
    for title, key in (("Warnings", "warnings"), ("In the file, but not used", "unused")):
        if info[key]:
            lines = joined(html("<li>{}</li>", line) for line in info[key][:ROWS])
            parts.append(details(f"{title}: {len(info[key])}", html("<ul>{}</ul>", lines)))
    return section("mechanism", "Mechanism", *parts)


def _mass(info: dict[str, Any], body: str) -> str:
    return f"{info['bodies'][body]['mass']:.4g}" if body in info["bodies"] else ""


def _drawn(mechanism: Mechanism, q: Any, where: str) -> Html:
    try:
        drawing = figure_of(mechanism, q, names=len(mechanism.joints) <= LINES, width=WIDTH)
    except LinkwrightError as error:
        return html('<p class="left-out">No picture: {}</p>', error)
    caption = f"At {where}, drawn to scale; shapes follow from the positions of the joints."
    return picture(drawing, caption, "home")


def _used(
    head: Sequence[str], rows: Sequence[Sequence[object]]
) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """Without the last column where nothing stands in it."""
    if any(row[-1] for row in rows):
        return head, rows
    return head[:-1], [row[:-1] for row in rows]


def _limited(head: Sequence[str], rows: Sequence[Sequence[object]], what: str) -> Html:
    found = table(head, rows[:ROWS])
    if len(rows) <= ROWS:
        return found
    more = html('<p class="note">… and {} more {}.</p>', len(rows) - ROWS, what)
    return joined([found, more])


_TITLES = {
    "mass_matrix": "Mass matrix M", "coriolis_matrix": "Coriolis matrix C", "gravity": "Gravity g",
    "forces": "Other forces f", "constraint_residual": "Constraints of positions φ",
    "constraint_jacobian": "Jacobian J of the constraints", "constraint_bias":
    "Bias γ of the constraints", "state_rates": "Rates of the states",
}  # fmt: skip


def equations_section(found: tuple[Written, ...] | LeftOut, file: str, names: Names) -> Html:
    command = f"linkwright derive {file} --as latex"
    general = html("<p>{}</p>", equation_of(names))
    general = joined([general, _coordinates(names)])
    if isinstance(found, LeftOut):
        return section("equations", "Equations of motion", general, left_out(found, command))
    parts = [general]
    for one in found:
        size = "" if one.is_zero else f" ({one.size})"
        parts.append(html("<h3>{} <small>{}{}</small></h3>", _TITLES[one.name], one.what, size))
        parts.append(_equation(one, f"{command} --what {one.name}"))
    parts.append(_symbols(found))
    return section("equations", "Equations of motion", *parts)


def _equation(one: Written, command: str) -> Html:
    if not one.markup:
        why = "it is longer than some pages, in closed form and with abbreviations"
        return left_out(LeftOut(why), command)
    if one.is_zero:
        return Html(one.markup)
    latex = details("LaTeX", copied(one.latex), "source")
    whole = Html(one.markup)
    return joined([details("Show all of it", whole) if one.is_long else whole, latex])


def _coordinates(names: Names) -> Html:
    """What stands in q, and in q̇ where that is not its rate."""
    setter = Typesetter(MathmlSetter(), {})

    def row(symbol: str, listed: Sequence[str]) -> Html:
        inside = joined(
            Html(f"<math>{setter.name(name)}{'<mo>,</mo></math> ' if k else '</math>'}")
            for k, name in zip(range(len(listed) - 1, -1, -1), listed, strict=True)
        )
        return html('<p class="names">{} = ({})</p>', symbol, inside)

    own = row("q", names.q)
    return own if names.q == names.qd else joined([own, row("q̇", names.qd)])


def _symbols(found: Sequence[Written]) -> Html:
    """Every parameter in the equations shown, with its value."""
    setter = Typesetter(MathmlSetter(), {})
    rows = [
        (html("<math>{}</math>", Html(setter.name(name))), name, f"{value:.6g}", meaning)
        for name, value, meaning in dict.fromkeys(s for one in found for s in one.symbols)
    ]
    if not rows:
        return Html("")
    shown = table(*_used(("symbol", "name", "value (SI)", "meaning"), rows))
    title = f"{counted(len(rows), 'symbol')} in these equations"
    return details(title, shown, "shown numbers-table")


_VERDICTS = {
    "proved": "proved: an identity, for all states and all values of the parameters, tested "
    "exactly, modulo a prime, at random points; “figure” bounds the chance that a wrong one passes",
    "passed": "passed: computed, within what “figure” allows or at states that it names; no proof",
    "noted": "noted: no error, but worth knowing",
    "failed": "failed: not so, by the “figure”",
    "skipped": "skipped: does not apply here, or cannot be told, for the reason given",
}


def checks_section(found: Report | LeftOut, file: str) -> Html:
    title = "Verification"
    if isinstance(found, LeftOut):
        return section("checks", title, left_out(found, f"linkwright verify {file}"))
    rows = [
        (html('<span class="{}">{}</span>', one.verdict, one.verdict), one.name,
         figured(one.figure), one.meaning)
        for one in found.checks
    ]  # fmt: skip
    bad, verdicts = len(found.failed), [one.verdict for one in found.checks]
    counts = {word: verdicts.count(word) for word in _VERDICTS}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    verdict = f"{bad} of {len(verdicts)} checks failed" if bad else "No check failed"
    lead = html(
        '<p><span class="{}">{}:</span> {}.</p>', "failed" if bad else "passed", verdict, told
    )
    legend = joined(html("<li>{}</li>", said) for word, said in _VERDICTS.items() if counts[word])
    whole = table(("", "check", "figure", "meaning"), rows)
    return section(
        "checks", title, lead, html('<div class="checks">{}</div>', whole),
        html('<ul class="note">{}</ul>', legend),
    )  # fmt: skip


def figured(text: str) -> Html:
    """Numbers as they are printed: 2^-60 and 1.3e-14 with raised exponents."""
    found = re.sub(r"\b(\d(?:\.\d+)?)e([+-]\d+)", _scientific, safe(text))
    return Html(re.sub(r"\^(-?\d+)", lambda m: _raised(int(m[1])), found))


def _scientific(match: re.Match[str]) -> str:
    """1.3e-14 as 1.3 · 10⁻¹⁴, but 4.85e-01 as 0.485, 1e-06 as 10⁻⁶ and 0.0e+00 as 0."""
    share, power = match[1], int(match[2])
    if float(share) == 0 or -3 <= power <= 3:
        return f"{float(match[0]):g}"
    return ("10" if float(share) == 1 else f"{share} · 10") + _raised(power)


def _raised(power: int) -> str:
    return f"<sup>{str(power).replace('-', '−')}</sup>"


def motion_section(found: Moved | LeftOut, command: str) -> Html:
    title = "Motion"
    if isinstance(found, LeftOut):
        return section("motion", title, left_out(found, command))
    run = found.run
    if len(run.t) < 2:
        return section("motion", title, left_out(LeftOut(run.status), command))
    said = [*found.notes, _balance(run)]
    if run.closure.any():
        said.append(f"Loops and constraints are held to {run.closure.max():.1e}.")
    lasting = float(run.t[-1] - run.t[0]) / LASTING
    pace = next((speed for speed in (1.0, 0.5, 0.25, 0.1) if speed <= lasting), 0.01)
    film = animation_element(run, speed=pace, trace=traced(run), identity="motion-drawing")
    shown = html('<div class="figures">{}</div>', joined(plots(run)))
    lead = html("<p>{}</p>", joined(figured(f"{sentence} ") for sentence in said))
    return section("motion", title, lead, _events(run), Html(film), shown)


def _balance(run: Any) -> str:
    if run.accounted:
        return f"Energy is accounted for to {run.audit:.1e} of the largest."
    return (
        f"Energy is not accounted for: {run.audit:.1e} of the largest is missing; "
        "do not trust this motion."
    )


def _events(run: Any) -> Html:
    """What happened on the way."""
    if not run.events:
        return Html("")
    rows = [(f"{event.t:.4g}", event.name, event.what) for event in run.events]
    shown = _limited(("t / s", "where", "what"), rows, "events")
    return details(counted(len(rows), "event"), shown)


def comparison_section(found: Comparison | LeftOut, command: str) -> Html:
    title = "Formulations side by side"
    if isinstance(found, LeftOut):
        return section("formulations", title, left_out(found, _patient(command)))
    notes = joined(html("<li>{}</li>", note) for note in found.notes())
    if not found.rows:
        nothing = left_out(LeftOut("none was measured in time"), _patient(command))
        return section("formulations", title, nothing, html("<ul>{}</ul>", notes))
    shown = found.table()
    lead = html(
        "<p>Times are seconds of the processor on the machine that made this page; the ratios "
        "of those to derive and to evaluate are what counts. Integration is by the simulator in "
        "each formulation’s own states, to the same accuracy.</p>"
    )
    rows = [[figured(cell) for cell in row] for row in shown.rows]
    whole = html('<div class="numbers">{}</div>', table(shown.head, rows))
    drawing = picture(found.figure(), "Cost of each formulation.", "cost")
    return section(
        "formulations", title, lead, whole, html('<ul class="note">{}</ul>', notes), drawing
    )


def _patient(command: str) -> str:
    """Over a tenth of a second of motion, with time enough: what the budget stopped is had so."""
    return re.sub(r"-t \S+ --budget \S+", "-t 0.1 --budget 600", command)


def titled(mechanism: Mechanism, info: dict[str, Any]) -> Html:
    free = "an unknown number of freedoms"
    if info["freedom"] is not None:
        free = counted(info["freedom"], "freedom")
    bodies, joints = counted(len(info["bodies"]), "body"), counted(len(info["joints"]), "joint")
    said = f"{bodies}, {joints}, {free}, {info['total_mass']:.4g} kg"
    about = headline(mechanism.name) if is_of_gallery(mechanism) else ""
    return html(
        '<h1>{}</h1>{}<p class="lead">{}</p>', mechanism.name,
        html("<p>{}</p>", about) if about else Html(""), said,
    )  # fmt: skip


def counted(count: int, what: str) -> str:
    many = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{count} {what if count == 1 else many}"
