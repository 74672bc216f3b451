"""Pages from the Jinja2 templates in `templates/`.

Everything that is filled in is escaped, unless it is a `Markup`: names in files of users are not to
be trusted.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..expressions.typeset import GREEK_LETTERS


@cache
def _template_environment() -> Environment:
    """The Jinja2 environment with the filters of the templates."""
    environment = Environment(
        loader=PackageLoader("linkwright.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count_of=count_with_noun,
        figures=typeset_page_figures,
        law=typeset_page_law,
        share=page_percentage,
    )
    return environment


def render_template(template: str, **values: object) -> Markup:
    """Renders a template with these values."""
    return Markup(_template_environment().get_template(template).render(values).strip())


def read_page_asset(name: str) -> Markup:
    """Returns a style sheet or script from the folder of the templates."""
    return Markup((files(__package__) / "templates" / name).read_text(encoding="utf-8"))


def count_with_noun(count: int, noun: str) -> str:
    """Returns a count with its noun: 1 joint, 2 joints, 2 bodies."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"


def page_percentage(share: float) -> int:
    """Returns a share in percent, rounded down, so that only all is 100 %."""
    return int(100 * share + 1e-9)


def typeset_page_figures(text: str) -> Markup:
    """Returns a text with raised exponents in numbers such as 2^-60 and 1.3e-14."""
    found = re.sub(r"\b(\d(?:\.\d+)?)e([+-]\d+)", _scientific_number_markup, escape(text))
    return Markup(re.sub(r"\^(-?\d+)", lambda match: _exponent_markup(int(match[1])), found))


def typeset_page_law(text: str) -> Markup:
    """Returns a law or sentence with lowered indices, A_sr, Greek letters, θ1, and minus signs."""
    found = re.sub(r"(?<=[^\s_])_([A-Za-z0-9]+)", r"<sub>\1</sub>", str(escape(text)))
    found = _GREEK_NAME.sub(_greek_name_markup, found)
    return Markup(re.sub(r"(?<![\w.&#;])-(?=\d)", "−", found.replace(" - ", " − ")))


_GREEK_NAME = re.compile(rf"\b({'|'.join(GREEK_LETTERS)})(\d*)\b")


def _greek_name_markup(match: re.Match[str]) -> str:
    """Returns theta1 as θ with the index 1."""
    index = f"<sub>{match[2]}</sub>" if match[2] else ""
    return GREEK_LETTERS[match[1]] + index


def _scientific_number_markup(match: re.Match[str]) -> str:
    """Returns 1.3e-14 as 1.3 · 10⁻¹⁴, but 4.85e-01 as 0.485, 1e-06 as 10⁻⁶ and 0.0e+00 as 0."""
    share, power = match[1], int(match[2])
    if float(share) == 0 or -3 <= power <= 3:
        return f"{float(match[0]):g}"
    return ("10" if float(share) == 1 else f"{share} · 10") + _exponent_markup(power)


def _exponent_markup(power: int) -> str:
    """An exponent as HTML."""
    return f"<sup>{str(power).replace('-', '−')}</sup>"
