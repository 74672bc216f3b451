"""The page in Chromium: it renders at all widths, moves, complains of nothing, asks for nothing."""

from __future__ import annotations

import base64
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

import linkwright as lw
from linkwright.report import page
from linkwright.report.page_parts import write_page_functions
from linkwright.report.report_page import page_html_document
from tests.report.browser import Browser, found

PROGRAM = found()
if PROGRAM is None and os.environ.get("LINKWRIGHT_BROWSER") != "required":
    pytest.skip("left out: no Chromium is installed", allow_module_level=True)


WIDTH_OF_M = 83.0
"""Of an italic m of 100 pixels in STIX Two Math."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(True, id="installed-fonts"),
        pytest.param(False, id="no-fonts", marks=pytest.mark.slow),
    ],
)
def browser(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Once with the fonts of this machine, whatever they are, and once without any."""
    assert PROGRAM is not None, "no Chromium is installed, and LINKWRIGHT_BROWSER=required"
    one = Browser(PROGRAM, tmp_path_factory.mktemp("profile"), fonts=request.param)
    yield one
    one.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    text = page(lw.gallery("elbow"), "elbow", 1.0, budget=60, by=["lagrange", "hamilton"])
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [390, 1280])
def test_renders_at_all_widths(browser: Browser, report: Path, width: int) -> None:
    browser.open(report, width)
    time.sleep(0.3)
    assert browser.evaluate("document.title") == "elbow"
    assert browser.evaluate("[...document.querySelectorAll('section')].map(s => s.id)") == [
        "mechanism", "live", "equations", "checks", "motion", "ranges", "modes", "formulations",
        "again",
    ]  # fmt: skip
    assert browser.evaluate("document.querySelectorAll('.left-out').length") == 0
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    sizes = browser.evaluate(
        "[...document.querySelectorAll('.equations p')].map(m => m.getBoundingClientRect())"
        ".map(r => [r.width, r.height])"
    )
    assert len(sizes) >= 10
    assert min(high for _, high in sizes) > 15
    drawn = (
        "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().width"
        " / parseFloat(s.getAttribute('width')))"
    )
    scales = browser.evaluate(drawn)
    assert len(scales) >= 5
    assert min(scales) > 1.2, "words of 7 points are at least 8.4 pixels high"
    assert browser.evaluate(
        "[...document.querySelectorAll('figure')].every(f => f.scrollWidth <= f.clientWidth)"
    ), "figures fit"
    assert browser.complaints() == []
    assert browser.requests() == [report.as_uri()]


def test_marks_are_unique(browser: Browser, report: Path) -> None:
    browser.open(report, 1280)
    marks = browser.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(marks) == len(set(marks))
    unknown = browser.evaluate(
        "[...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.hash)).length"
    )
    assert unknown == 0


def test_the_animation_moves(browser: Browser, report: Path) -> None:
    browser.open(report, 1280)
    browser.evaluate("document.querySelector('.lw-motion canvas').scrollIntoView()")
    pictures = set()
    for _ in range(20):
        pictures.add(browser.evaluate("document.querySelector('.lw-motion canvas').toDataURL()"))
        time.sleep(0.1)
    assert len(pictures) > 2


@pytest.fixture(scope="module")
def long_equations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "a.html"
    found = write_page_functions(lw.gallery("six-axis"))
    path.write_text(
        page_html_document("a", Markup().join(one.markup for one in found)), encoding="utf-8"
    )
    return path


def test_long_equations_wrap_on_a_phone(browser: Browser, long_equations: Path) -> None:
    """Lines end before + and −; what cannot be broken scrolls in its own paragraph."""
    browser.open(long_equations, 390)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    wide, all_of_them = browser.evaluate(
        "(() => { const all = [...document.querySelectorAll('.equations p')];"
        "return [all.filter(p => p.scrollWidth > p.clientWidth).length, all.length]; })()"
    )
    assert all_of_them > 300
    assert wide == 0
    assert browser.evaluate("document.querySelector('.equations').clientHeight") > 3000


def test_formulas_are_set_in_the_embedded_math_font(browser: Browser, report: Path) -> None:
    """Its MATH table makes indices small and lets parentheses grow with what they hold; letters are
    as wide as the font has them, wherever the page is read."""
    browser.open(report, 1280)
    loaded = browser.evaluate("[...document.fonts].map(f => f.family + ' ' + f.status)")
    assert set(loaded) == {"Linkwright Math loaded", "Linkwright Text loaded"}
    family = browser.evaluate("getComputedStyle(document.querySelector('math')).fontFamily")
    for name in ("STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre"):
        assert name in family
    small, high, wide = browser.evaluate(
        "(() => { const p = document.querySelector('.equations p');"
        "p.insertAdjacentHTML('afterend', '<p><math style=\"font-size:100px\"><mrow><mo>(</mo><mfrac><mi>a</mi>"
        "<mi>b</mi></mfrac><mo>)</mo></mrow><msub><mi>m</mi><mn>2</mn></msub><mn>2</mn></math></p>');"
        "const m = p.nextSibling, size = (what) => m.querySelector(what).getBoundingClientRect();"
        "return [size('msub mn').width / size('math > mn').width, size('mo').height, size('msub mi').width];})()"
    )
    assert 0.6 < small < 0.8
    assert high > 130
    assert wide == pytest.approx(WIDTH_OF_M, abs=0.5)


def test_words_in_figures_are_shown(browser: Browser, report: Path) -> None:
    browser.open(report, 1280)
    widths = browser.evaluate(
        "[...document.querySelectorAll('figure svg text')].filter(t => t.textContent.trim())"
        ".map(t => t.getBoundingClientRect().width)"
    )
    assert len(widths) > 40
    assert min(widths) > 1


def test_print_shows_pictures_of_the_motion(browser: Browser, report: Path) -> None:
    """Six, each with its time, in place of the moving one, which goes on afterwards."""
    browser.open(report, 1280)
    browser.evaluate("document.querySelector('.lw-motion button').click()")
    look = "document.querySelector('.lw-motion canvas').toDataURL()"
    inked = (
        "(() => { const c = document.querySelector('.lw-motion canvas'), w = c.width / 3, h = c.height / 2;"
        "const pen = c.getContext('2d'); return [0, 1, 2, 3, 4, 5].map(k => pen.getImageData("
        "(k % 3) * w, Math.floor(k / 3) * h, w, h).data.filter((v, i) => i % 4 === 3 && v).length); })()"
    )
    before = browser.evaluate(look)
    browser.evaluate(
        f"addEventListener('beforeprint', () => {{ window.printed = [{look}, {inked}]; }})"
    )
    browser.call("Page.printToPDF")
    printed, ink = browser.evaluate("window.printed")
    assert printed != before
    assert min(ink) > 300
    assert browser.evaluate(look) == before


def test_controls_are_large_enough_for_a_thumb(browser: Browser, report: Path) -> None:
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
    browser.open(report, 390)
    highs = browser.evaluate(
        "[...document.querySelectorAll('.lw-motion button, .lw-motion input, .lw-motion select')]"
        ".map(e => e.getBoundingClientRect().height)"
    )
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
    assert min(highs) >= 44


def test_latex_can_be_copied(browser: Browser, report: Path) -> None:
    browser.open(report, 1280)
    said = browser.evaluate(
        "(async () => { document.querySelectorAll('details').forEach(d => { d.open = true; });"
        "const box = document.querySelector('.copy'); box.querySelector('button').click();"
        "await new Promise(done => setTimeout(done, 300));"
        "return [box.querySelector('button').textContent, box.querySelector('pre').textContent]; })()"
    )
    assert said[0] in ("Copied", "Selected")
    assert said[1].startswith("\\[ M(q) \\ddot{q} + ")  # the law, then its functions
    assert "\\begin{align*}" in said[1]


def test_prints_on_some_pages(browser: Browser, report: Path) -> None:
    browser.open(report, 1280)
    pdf = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8


def test_no_heading_is_printed_alone(browser: Browser, report: Path) -> None:
    browser.open(report, 1280)
    browser.call("Emulation.setEmulatedMedia", media="print")
    rules = {
        (what, rule): browser.evaluate(
            f"[...document.querySelectorAll('{what}')].map(e => getComputedStyle(e).{rule})"
        )
        for what, rule in (
            ("h2, h3", "breakAfter"), ("h2, h3", "breakInside"), ("#motion > p", "breakAfter"),
            ("#motion > p", "breakInside"), ("figure", "breakInside"),
        )
    }  # fmt: skip
    browser.call("Emulation.setEmulatedMedia", media="")
    for place, values in rules.items():
        assert set(values) == {"avoid"}, place


def test_print_unfolds_what_is_folded(browser: Browser, report: Path) -> None:
    """Tables of numbers are printed; sources, which are for copying, are not."""
    browser.open(report, 1280)
    count = "document.querySelectorAll('details.{}[open]').length"
    browser.evaluate(
        "addEventListener('beforeprint', () => { window.opened = ["
        f"{count.format('shown')}, {count.format('source')}]; }})"
    )
    browser.call("Page.printToPDF")
    shown, sources = browser.evaluate("window.opened")
    assert shown == browser.evaluate("document.querySelectorAll('details.shown').length") > 0
    assert sources == 0
    assert browser.evaluate(count.format("shown")) == 0


def test_what_is_injected_does_not_run(browser: Browser, tmp_path: Path) -> None:
    """Even if something were not escaped, the page's own policy would stop it."""
    path = tmp_path / "a.html"
    body = "<script>document.title = 'owned'</script><img src=https://example.com onerror=alert(1)>"
    text = page_html_document("</title><b>title", Markup("<p>text</p>"))
    path.write_text(text.replace("<p>text</p>", body), encoding="utf-8")
    browser.open(path, 800)
    assert browser.evaluate("document.title") == "</title><b>title"
    assert sum("Content Security Policy" in text for text in browser.complaints()) >= 2
    assert browser.evaluate("document.querySelector('img').naturalWidth") == 0
