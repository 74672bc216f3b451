"""The gallery: a page for each mechanism with picture, film, equations, and what to learn."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import linkwright as lw
from linkwright import show
from linkwright.errors import LinkwrightError
from linkwright.mechanism import gallery_files
from linkwright.report.motion_starts import default_page_motion_start

from . import live_pages
from .api_pages import put
from .pictures import is_current, source_digest

HERE = Path(__file__).resolve().parents[1]
NOTES = HERE / "gallery/notes.toml"
FILES = Path(gallery_files.__file__).parent
GROUPS = ("Pendulums", "Linkages", "Arms", "Parallel robots", "Rolling and skating",
          "Contacts and friction", "Floating bases", "More")  # fmt: skip
LONGEST_OPEN, LONGEST_FOLDED = 2_500, 20_000
"""Characters of LaTeX of one quantity that a page shows, and that it shows when unfolded."""


def write(folder: Path) -> None:
    """Writes generated/gallery and the films in generated/films."""
    home, films = folder / "gallery", folder / "films"
    home.mkdir(parents=True, exist_ok=True)
    films.mkdir(parents=True, exist_ok=True)
    mark = films / "source.txt"
    current = is_current(mark)
    notes = tomllib.loads(NOTES.read_text(encoding="utf-8"))
    unknown = set(notes) - set(lw.gallery())
    if unknown:
        raise LinkwrightError(f"gallery/notes.toml names {sorted(unknown)}, which do not exist")
    cards: dict[str, list[str]] = {}
    runs: dict[str, lw.simulation.Run] = {}
    for name in lw.gallery():
        note = notes.get(name, {"title": name, "group": "More", "learn": "", "links": []})
        if not current or not (home / f"{name}.md").exists():
            runs[name] = gallery_run(name)
            (films / f"{name}.html").write_text(film(name, runs[name]), encoding="utf-8")
            put(home / f"{name}.md", page(name, note))
        cards.setdefault(note["group"], []).append(card(name, note))
    live_pages.write(folder, runs)
    put(folder / "gallery-cards.md", card_page(cards))
    mark.write_text(source_digest(), encoding="utf-8")


def card(name: str, note: dict[str, object]) -> str:
    return (
        f":::{{grid-item-card}} {note['title']}\n"
        f":link: /generated/gallery/{name}\n:link-type: doc\n"
        f":img-top: /generated/pictures/gallery-{name}.svg\n:img-alt: {note['title']}\n\n"
        f"`{name}`\n:::\n"
    )


def card_page(cards: dict[str, list[str]]) -> str:
    parts = ["<!-- begin -->\n"]
    for group in GROUPS:
        if group in cards:
            grid = "".join(cards[group])
            options = ":gutter: 2\n:class-container: gallery-grid"
            parts.append(f"## {group}\n\n::::{{grid}} 2 2 3 4\n{options}\n\n{grid}::::\n")
    return "\n".join(parts)


def page(name: str, note: dict[str, object]) -> str:
    """The page of one mechanism."""
    mechanism = lw.gallery(name)
    links = ", ".join(f"[](/{place}.md)" for place in note["links"])
    intro = f"**What to learn.** {note['learn']}" + (f" See {links}." if links else "")
    return f"""# {note["title"]}

`lw.gallery("{name}")`

{intro}

```{{image}} /generated/pictures/gallery-{name}.svg
:alt: {name}
```

## In motion

```{{raw}} html
:file: ../films/{name}.html
```

`linkwright report {name} -o {name}.html` writes this motion with plots, checks and all equations
on one page.

## Live

Drag a body, move a slider, press Run: the page computes with the mechanism's own equations
([how](/how-to/live-pages.md)).

{live_pages.frame(name, 2)}
## In numbers

{facts(mechanism)}

## Equations

{equations(mechanism)}

## File

:::{{dropdown}} `linkwright gallery {name}`
{file_text(name)}
:::
"""


def facts(mechanism: lw.Mechanism) -> str:
    """A small table of counts."""
    model = lw.compile(mechanism)
    restricted = bool(mechanism.loops or mechanism.constraints)
    dof = lw.mobility(mechanism).dof if restricted else model.nv
    rows = [
        ("bodies", len(mechanism.bodies)),
        ("coordinates", ", ".join(f"`{x}`" for x in model.q_names)),
        ("degrees of freedom", dof),
        ("loops, constraints", f"{len(mechanism.loops)}, {len(mechanism.constraints)}"),
        ("mass", f"{sum(model.inertial_parameters[::10]):.4g} kg"),
        ("operations of forward dynamics", model.operations("forward_dynamics")),
    ]
    return "| | |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)


def equations(mechanism: lw.Mechanism) -> str:
    """Closed forms, where they are short enough to read."""
    eqs = lw.derive(mechanism)
    parts, long = [], []
    for symbol, words in (("M", "Mass matrix"), ("C", "Coriolis matrix"), ("g", "Gravity vector")):
        try:
            latex = eqs.closed_form(symbol).latex()
        except LinkwrightError:
            latex = ""
        if latex and len(latex) <= LONGEST_OPEN:
            parts.append(f"{words}:\n\n$$\n{latex}\n$$\n")
        elif latex and len(latex) <= LONGEST_FOLDED:
            parts.append(f":::{{dropdown}} {words}\n\n$$\n{latex}\n$$\n:::\n")
        else:
            long.append(f"`{symbol}`")
    if long:
        command = f"`linkwright derive {mechanism.name}`"
        parts.append(
            f"Too long for this page: {', '.join(long)}. {command} prints them, and the view above "
            "shows the values of their entries."
        )
    return "\n".join(parts)


def gallery_run(name: str) -> lw.simulation.Run:
    """The motion of the mechanism that its pages show."""
    mechanism = lw.gallery(name)
    start = default_page_motion_start(mechanism)

    def simulate(stops: str) -> lw.simulation.Run:
        return lw.simulate(
            mechanism, start.seconds, q0=dict(start.q0) or None, qd0=dict(start.qd0) or None,
            torque=dict(start.efforts) or None, stops=stops, samples=301, progress=False,
        )  # fmt: skip

    try:
        return simulate("impact")
    except LinkwrightError:  # it starts beyond a limit
        return simulate("ignore")


def film(name: str, run: lw.simulation.Run) -> str:
    """The motion of the mechanism as an element of a page."""
    element = show.animation_element(run, autoplay=False, identity=f"film-{name}")
    return f'<div class="film">{element}</div>'


def file_text(name: str) -> str:
    """The file of a mechanism; families such as chain-6 have none."""
    for ending in (".toml", ".dh.toml"):
        path = FILES / f"{name}{ending}"
        if path.exists():
            return f"```toml\n{path.read_text(encoding='utf-8')}```"
    text = lw.export(lw.gallery(name), to="toml").files
    return "```toml\n" + re.sub(r"\n{3,}", "\n\n", next(iter(text.values()))) + "```"
