"""Pages of live scenes: the viewer's scripts, a whole page, an element of another page."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files

from ..forms.page_fonts import formula_font_css, text_font_css
from .live_scene import LiveScene, check_scene

MODULES = (
    "vectors.js",
    "units.js",
    "scales.js",
    "wasm.js",
    "state.js",
    "closing.js",
    "rebounds.js",
    "simulation.js",
    "camera.js",
    "follow.js",
    "planar.js",
    "solids.js",
    "shaders.js",
    "spatial.js",
    "overlay.js",
    "pointer.js",
    "plots.js",
    "figures.js",
    "panels.js",
    "formulas.js",
    "bodies.js",
    "stage.js",
    "viewer.js",
)
"""The modules of the viewer, each after those that it imports."""

_IMPORT = re.compile(r'^import (?:\{[^}]*\}|\* as \w+) from "\./[\w.]+";\n', re.M)
_EXPORT = re.compile(r"^export (?=(async )?(function|class|const|let)\b)", re.M)


def javascript() -> dict[str, str]:
    """Return the viewer's ES modules by file name, each after those that it imports.

    `viewer.js` exports `mountViewer(element, scene, options)`.

    Returns
    -------
    dict of str to str
        The modules' texts.

    Examples
    --------
    >>> import linkwright as lw
    >>> "export function mountViewer" in lw.live.javascript()["viewer.js"]
    True
    """
    return {name: _module_text(name) for name in MODULES}


@cache
def _module_text(name: str) -> str:
    """The text of one module; that of WebAssembly is the wrapper of exports, without a table."""
    if name == "wasm.js":
        text = (files("linkwright.exports") / "wrapper.mjs").read_text(encoding="utf-8")
        _, _, functions = text.partition("/** Copy numbers into an array of the module")
        return f"/** Copy numbers into an array of the module{functions}"
    return (files(__package__) / "js" / name).read_text(encoding="utf-8")


@cache
def viewer_script() -> str:
    """Return all modules as one ES module that exports `mountViewer` and imports nothing.

    The modules share one scope, so that a page needs no addresses for them.

    Returns
    -------
    str
        JavaScript.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.live.viewer_script().endswith("export { mountViewer };\\n")
    True
    """
    texts = [_EXPORT.sub("", _IMPORT.sub("", text)) for text in javascript().values()]
    return "\n".join([*texts, "export { mountViewer };\n"])


@cache
def viewer_style() -> str:
    """Return the viewer's style sheet.

    Returns
    -------
    str
        CSS.

    Examples
    --------
    >>> import linkwright as lw
    >>> ".lw-live" in lw.live.viewer_style()
    True
    """
    return (files(__package__) / "js" / "viewer.css").read_text(encoding="utf-8")


_START = (
    'for (const root of document.querySelectorAll(".lw-live")) {'
    'const data = JSON.parse(root.querySelector("script").textContent);'
    "root.viewer = mountViewer(root, data, {});}"
)


def page_script() -> str:
    """Return the script of a page: the viewer, mounted on every element of class `lw-live`.

    Returns
    -------
    str
        JavaScript for `<script type="module">`.

    Examples
    --------
    >>> import linkwright as lw
    >>> "querySelectorAll" in lw.live.page_script()
    True
    """
    return viewer_script().replace("export { mountViewer };\n", _START + "\n")


def script_hash(text: str) -> str:
    """Return the source by which a content security policy allows an inline script.

    Parameters
    ----------
    text : str
        The text of the script element.

    Returns
    -------
    str
        `'sha256-…'`.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.live.script_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def element(scene: LiveScene) -> str:
    """Return a live scene as an element of an HTML page.

    The page also needs `viewer_style` and `page_script`.

    Parameters
    ----------
    scene : LiveScene
        The scene.

    Returns
    -------
    str
        The HTML text.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.live.element(lw.live.scene(lw.gallery("elbow"))).startswith('<div class="lw-live"')
    True
    """
    data = check_scene(scene).json
    return (
        '<div class="lw-live"><noscript><p>To move the mechanism, open this page in a browser '
        f'with scripts on.</p></noscript><script type="application/json">{data}</script></div>'
    )


def page(scene: LiveScene, title: str | None = None) -> str:
    """Return a live scene as one HTML page that needs no network and no other file.

    Its content security policy allows the page's own script and nothing else.

    Parameters
    ----------
    scene : LiveScene
        The scene.
    title : str, optional
        Title of the page (default: the name of the mechanism).

    Returns
    -------
    str
        The HTML text.

    Examples
    --------
    >>> import linkwright as lw
    >>> text = lw.live.page(lw.live.scene(lw.gallery("elbow")), "An elbow")
    >>> "default-src &#x27;none&#x27;" in text  # the policy forbids everything but the page's own
    True
    >>> "<title>An elbow</title>" in text
    True
    """
    body, script = element(scene), page_script()
    name = html.escape(title or scene.name)
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; font-src data:; img-src data: blob:; "
        f"script-src {script_hash(script)} 'wasm-unsafe-eval'"
    )
    fonts = text_font_css() + formula_font_css()
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">'
        f'<title>{name}</title><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{fonts}{viewer_style()}{_PAGE_STYLE}</style></head>"
        f'<body class="lw-page"><h1>{name}</h1>{body}<script type="module">{script}</script>'
        "</body></html>\n"
    )


_PAGE_STYLE = (
    ":root{color-scheme:light dark}"
    "body.lw-page{margin:0 auto;max-width:88rem;padding:.6rem 1rem 2rem;"
    'font:16px/1.45 "Linkwright Text","Linkwright Math",system-ui,sans-serif}'
    "body.lw-page h1{font-size:1.25rem;margin:.2rem 0 .6rem;overflow-wrap:anywhere}"
)
