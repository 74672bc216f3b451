"""LaTeX as a list of tokens: commands, words of functions, numbers, letters, marks."""

from __future__ import annotations

import re

from ..errors import ExpressionError
from ..expressions.tokens import MAX_LENGTH, shorten

GREEK = (
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega", "Gamma", "Delta",
    "Theta", "Lambda", "Sigma", "Phi", "Psi", "Omega", "upsilon", "Xi", "Pi", "Upsilon", "ell",
)  # fmt: skip
_LETTERS = "αβγδεζηθικλμνξπρστφχψωΓΔΘΛΣΦΨΩ"
GREEK_LETTERS = dict(zip(_LETTERS, GREEK, strict=False))

_UNICODE = {ord(c): f"\\{name} " for c, name in GREEK_LETTERS.items()} | {
    ord("−"): "-", ord("·"): "*", ord("×"): "*", ord("′"): "'", ord("°"): r"^\circ ",
    ord("²"): "^2", ord("³"): "^3", ord("∂"): r"\partial ", ord("½"): r"\frac{1}{2}",
    ord("∑"): r"\sum ", ord("…"): r"\dots ",
}  # fmt: skip
_SILENT = re.compile(
    r"(?<!\\)\\(?:[,;:!> /]|(?:quad|qquad|displaystyle|textstyle|limits|nolimits|nonumber|notag"
    r"|rm|bf|it|mathstrut|strut|thinspace|medspace|thickspace|negthinspace|enspace|hfill|hfil|null|relax"
    r"|allowbreak|nobreak|break|noindent|centering|boldmath|middle|left\.|right\.|left|right"
    r"|[bB]igg?[lrm]?)(?![A-Za-z])"
    r"|(?:hspace|vspace|phantom|hphantom|vphantom)\*?\{[^{}]*\})|~"
)
_MATRIX = r"(?:[bpvBV]?(?:small)?matrix|array)\*?"
_BEGIN = r"\\begin\{(?:array\}(?:\{(?:[^{}]|\{[^{}]*\})*\})?|[bpvBV]?(?:small)?matrix\*?\})"
_TOKEN = re.compile(
    rf"\s*(?:(?P<begin>{_BEGIN})|(?P<end_matrix>\\end\{{{_MATRIX}\}})"
    r"|(?P<newline>\\\\(?:\[[^\]]*\])?)|(?P<define>:=)|(?P<dots>\.\.\.)"
    r"|(?P<command>\\[A-Za-z]+|\\[{}|])"
    r"|(?P<word>(?:[Ss]in|[Cc]os|[Tt]an)(?!h)|(?:sqrt|atan2|arcsin|arccos|arctan)(?![A-Za-z]))"
    r"|(?P<number>\d+\.?\d*|\.\d+)|(?P<letter>[^\W\d_])|(?P<mark>[-+*/^_{}()\[\],;=&'|°])|(?P<end>$))"
)
_SAME = {
    "\\lbrace": "\\{", "\\rbrace": "\\}", "\\lbrack": "[", "\\rbrack": "]", "\\lparen": "(",
    "\\rparen": ")", "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac",
    "\\coloneqq": ":=", "\\equiv": ":=", "\\triangleq": ":=", "\\coloneq": ":=",
    "\\vartheta": "\\theta", "\\varphi": "\\phi", "\\varepsilon": "\\epsilon", "\\varrho": "\\rho",
    "\\prime": "'", "\\star": "*", "\\ast": "*", "\\intercal": "\\top", "...": "\\dots",
    "\\lvert": "|", "\\rvert": "|", "\\vert": "|", "\\lVert": "|", "\\rVert": "|", "\\Vert": "|",
    "\\|": "|", "\\ldots": "\\dots", "\\cdots": "\\dots",
}  # fmt: skip
_ALIGNMENT = "alignment"
_BEFORE_IT = ("", "=", ":=", "+", "-", "*", "/", ",", ";", "(", "[", "\\{", "\\cdot", _ALIGNMENT)
_AFTER_IT = ("", "=", ":=", "+", "-", "*", "/", ",", ";", ")", "]", "\\}", "\\cdot", _ALIGNMENT)
_OPENING, _CLOSING = ("(", "[", "\\{"), (")", "]", "\\}")
_UPRIGHT_D = re.compile(r"\\(?:mathrm|operatorname|text|rm)\s*\{d\}|\\dd(?![A-Za-z])")
_DEGREES = re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])")


def latex_tokens(text: str) -> list[str]:
    """The tokens of an equation, and an empty one at the end."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"the equation has {len(text)} characters, more than {MAX_LENGTH}",
            remedy="split it with names of your own",
        )
    plain = _DEGREES.sub(" ° ", _UPRIGHT_D.sub("d", _SILENT.sub(" ", text.translate(_UNICODE))))
    found: list[str] = []
    depths: list[int] = []  # of brackets inside the matrices that are open
    at = 0
    while True:
        match = _TOKEN.match(plain, at)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"cannot read '{plain[at:].lstrip()[0]}' in '{shorten(text)}'")
        kind, at = match.lastgroup, match.end()
        word = match.group(kind)
        if kind == "end":
            return _without_layout([*found, ""], text)
        if kind == "begin":
            depths.append(0)
            found.append("\\begin")
        elif kind == "end_matrix":
            found.append("\\end")
            depths = depths[:-1]
        elif kind == "newline" or word == "&":  # outside of matrices they are layout
            is_mark = depths and depths[-1] == 0
            mark = "\\\\" if kind == "newline" else "&"
            found += [mark if is_mark else _ALIGNMENT] if is_mark or not depths else []
        else:
            token = f"\\{word.lower()}" if kind == "word" else _SAME.get(word, word)
            if depths:
                depths[-1] += (token in _OPENING) - (token in _CLOSING)
            found.append(token)


def _without_layout(tokens: list[str], text: str) -> list[str]:
    """Without alignment marks and empty groups; a mark between two factors separates equations."""
    found: list[str] = []
    for i, token in enumerate(tokens):
        before = found[-1] if found else ""
        after = tokens[i + 1] if token else ""
        if token == _ALIGNMENT:
            if before not in _BEFORE_IT and after not in _AFTER_IT:
                raise ExpressionError(
                    f"'&' stands between two factors in '{shorten(' '.join(text.split()))}'",
                    remedy="put a line break between equations",
                )
        elif token == "}" and before == "{" and not _is_prescript(tokens[i + 1 : i + 4]):
            found.pop()
        else:
            found.append(token)
    return found


def _is_prescript(tokens: list[str]) -> bool:
    """Whether capital letters are raised behind an empty group, as in {}^{B}V."""
    letters = [x for x in tokens[1:] if x != "{" and not x.startswith("\\")]
    return tokens[:1] == ["^"] and letters[:1] != [] and letters[0].isupper()
