"""The page of a study: what was varied, what came out, plots, and a view of a picked design."""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from .. import __version__, live, show
from ..errors import LinkwrightError, MissingExtraError
from ..expressions import expression_to_float, parse_expression
from ..files.partial_files import partial_file_name
from ..forms.page_fonts import formula_font_css, text_font_css
from ..mechanism import mechanism_names
from ..studies.design_motions import DesignMotions, make_motions, prescribed_motion
from .rendering import read_page_asset, render_template

if TYPE_CHECKING:
    from ..studies import Study

MAX_SHOWN_DESIGNS = 4000
"""Designs in the linked view; of more, evenly chosen ones are shown, and the extremes of all
measures."""

MAX_SHOWN_FAILURES = 12
SHOWN_EXTREMES = 3


def write_study_page(study: Study, path: Path) -> Path:
    """Write the page whole or not at all, and return its path."""
    text = study_page(study)
    partial = partial_file_name(path)
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise LinkwrightError(f"cannot be written: {error.strerror}", where=str(path)) from None
    return path


def study_page(study: Study) -> str:
    """Return the page of a study as HTML that fetches nothing."""
    counts = study.store.summary()
    scene, why_not = _live_scene(study)
    script = live.viewer_script().replace("export { mountViewer };\n", "")
    script += str(read_page_asset("study.js"))
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data: blob:; "
        f"script-src {live.script_hash(script)} 'wasm-unsafe-eval'"
    )
    failures, linked, motions = study.failures, _linked_data(study), None
    rows = np.array(linked["designs"], dtype=int)
    if scene is not None and len(rows) and _needs_motions(study):
        motions = make_motions(study, rows)
    return str(
        render_template(
            "study.html",
            title=f"Study of {study.mechanism.name}",
            policy=policy,
            style=Markup(
                text_font_css()
                + formula_font_css()
                + live.viewer_style()
                + str(read_page_asset("study.css"))
            ),
            script=Markup(script),
            study=study,
            counts=counts,
            sampling=study.recipe.sampling,
            settings=_shown_settings(study),
            ranges=_measure_ranges(study),
            extremes=_extreme_designs(study),
            failures=list(failures.items())[:MAX_SHOWN_FAILURES],
            failed=len(failures),
            figures=_figures(study),
            data=Markup(_script_json({**linked, "motions": _motion_data(motions)})),
            scene=None if scene is None else Markup(scene.json),
            why_not=why_not,
            notes=_view_notes(study, motions, len(rows)),
            version=__version__,
        )
    )


def _script_json(value: object) -> str:
    """Return JSON that is safe inside a script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c")


def _live_scene(study: Study) -> tuple[live.LiveScene | None, str]:
    """Return the scene of the mechanism, or why there is none."""
    try:
        return live.scene(study.mechanism), ""
    except LinkwrightError as error:
        return None, str(error)


def _shown_settings(study: Study) -> str:
    """Return the settings of the runs in words."""
    given = study.recipe.settings.get("run", {})
    words = [f"{key} = {given[key]}" for key in ("t", "by", "integrator", "rtol", "samples")]
    return ", ".join(words)


def _measure_ranges(study: Study) -> list[tuple[str, str, list[str]]]:
    """Return name, expression, and least, mean and largest value of each measure."""
    found = []
    for one in study.recipe.measures:
        values = study.data[one.name].to_numpy()
        known = values[np.isfinite(values)]
        shown = [f"{x:.5g}" for x in (known.min(), known.mean(), known.max())] if known.size else []
        found.append((one.name, one.summary(), shown))
    return found


def _extreme_designs(study: Study) -> list[tuple[str, list[tuple[int, str]]]]:
    """Return for each measure the designs with its largest values."""
    found = []
    for name in study.measure_names:
        values = study.data[name].to_numpy()
        if values.ndim > 1:
            continue
        order = np.argsort(-np.where(np.isfinite(values), values, -np.inf), kind="stable")
        rows = [(int(k), f"{values[k]:.6g}") for k in order[:SHOWN_EXTREMES]]
        found.append((name, [row for row in rows if np.isfinite(values[row[0]])]))
    return found


def _figures(study: Study) -> list[tuple[str, Markup]]:
    """Return the figures that the design allows, with their captions."""
    wanted = [("scatter", "Measures over factors"), ("parallel", "All designs, one line each")]
    wanted.append(("correlations", "Rank correlations of measures with factors"))
    method = study.recipe.sampling.method
    if method == "saltelli":
        wanted.append(("sobol", "Sobol' indices: shares of the variance"))
    if method == "morris":
        wanted.append(("morris", "Morris' elementary effects"))
    if study.recipe.histories:
        wanted.append(("bands", "Median, and bands of 50 % and 90 % of the designs"))
    found = []
    for kind, caption in wanted:
        try:
            found.append((caption, Markup(show.svg(study.plot(kind=kind)))))
        except MissingExtraError:
            return []
        except LinkwrightError:
            continue
    return found


def _linked_data(study: Study) -> dict[str, object]:
    """Return the columns of the linked view: names, numbers, and what each factor sets."""
    usable = np.flatnonzero(study.is_usable)
    rows = usable[:: max(1, -(-len(usable) // MAX_SHOWN_DESIGNS))]
    names = [one.name for one in study.recipe.factors if one.is_number]
    names += [name for name in study.measure_names if study.data[name].ndim == 1]
    every = np.stack([study.numbers(name) for name in names], axis=1) if names else np.zeros((0, 0))
    if len(usable) and names:
        known = np.where(np.isfinite(every[usable]), every[usable], 0.0)
        ends = {int(k) for k in usable[np.r_[known.argmin(axis=0), known.argmax(axis=0)]]}
        rows = np.array(sorted({*rows.tolist(), *ends}))
    columns = [_json_numbers(every[rows, k]) for k in range(len(names))] if names else []
    q, qd = _start_rows(study, rows)
    return {
        "names": names,
        "columns": columns,
        "designs": rows.tolist(),
        "total": study.recipe.count,
        "measures": len(study.measure_names),
        "targets": [
            [one.name, one.table, one.key] for one in study.recipe.factors if one.is_number
        ],
        "q": q,
        "qd": qd,
        "torque": _constant_inputs(study)[0],
        "first": _first_axes(study, names),
    }


def _first_axes(study: Study, names: list[str]) -> list[int]:
    """Return the first pair of axes: a factor, and a measure that depends on it."""
    measures = [k for k, name in enumerate(names) if name in study.measure_names]
    return [0, measures[0] if measures else min(1, len(names) - 1)]


def _json_numbers(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float | None]:
    return [float(f"{x:.7g}") if np.isfinite(x) else None for x in values.tolist()]


def _start_rows(study: Study, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Any]:
    """Return coordinates and velocities where the shown designs begin; one row if all are equal."""
    try:
        found = study.starts_of(rows)
    except LinkwrightError:
        return [[], []]
    kept = [one[:1] if len(one) and (one == one[0]).all() else one for one in found]
    return [[_json_numbers(row) for row in one] for one in kept]


def _constant_inputs(study: Study) -> tuple[dict[str, float], bool]:
    """Return the inputs that are constant, and whether there are others."""
    given = study.recipe.settings.get("run", {}).get("torque")
    if isinstance(given, list):
        given = dict(zip(mechanism_names(study.mechanism).qd, given, strict=False))
    table = given if isinstance(given, dict) else {}
    found = dict[str, float]()
    for name, value in table.items():
        if isinstance(value, str):
            with contextlib.suppress(LinkwrightError, ValueError):  # it changes with time
                found[name] = expression_to_float(parse_expression(value))
        elif isinstance(value, int | float):
            found[name] = float(value)
    return found, len(found) < len(table) or (given is not None and not table)


def _needs_motions(study: Study) -> bool:
    """Whether motions differ from those that the view computes by itself."""
    given = study.recipe.settings.get("run", {})
    is_driven = given.get("control") is not None or _constant_inputs(study)[1]
    is_driven |= any(one.has_text and one.table == "torque" for one in study.recipe.factors)
    return is_driven or bool(prescribed_motion(study.recipe))


def _motion_data(motions: DesignMotions | None) -> dict[str, object] | None:
    """Return motions as the page reads them: little-endian numbers of four bytes."""
    if motions is None:
        return None
    numbers = base64.b64encode(motions.states.astype("<f4").tobytes()).decode()
    frames, width = motions.states.shape[1:]
    rows = motions.places.tolist()
    return {"rows": rows, "frames": frames, "width": width, "numbers": numbers}


def _view_notes(study: Study, motions: DesignMotions | None, shown: int) -> list[str]:
    """Return how the view differs from the runs of the study."""
    given, notes = study.recipe.settings.get("run", {}), []
    if motions is not None:
        notes.append("The view repeats the motions of the study.")
        if len(motions.places) < shown:
            notes.append(f"It has {len(motions.places)} of them; other designs stand still.")
    elif given.get("control") is not None:
        notes.append("The view moves without the study's controller.")
    elif _constant_inputs(study)[1]:
        notes.append("The view moves without inputs that change with time.")
    if any(one.has_text and one.table != "torque" for one in study.recipe.factors):
        notes.append("Formulations, integrators and other texts do not change the view.")
    return notes
