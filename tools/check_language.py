"""Find phrases that must not return, in pages, docstrings, help texts and messages: docs/style.md.

    python tools/check_language.py [FILE …]

Prints one line for each phrase, with what to write instead, and exits with 1 if there is any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PHRASES = {
    r"\b(?:is|are|was|were)\s+no\s+(?!longer\b)": "is not a, has no, no … exists, unknown …",
    r"\bunless\s+said": "by default, default: …",
    r"\bif\s+not\s+said": "default: …",
    r"\bin\s+silence\b": "silently",
    r"\bwithout\s+a\s+word\b": "without warning, silently",
    r"\btells?\s+all\b": "describes, see …",
    r"\bof\s+today\b": "measured on DATE",
    r"\bon\s+different\s+roads\b": "in independent ways",
    r"\bcomes?\s+along\b": "is included, is part of",
    r"\bby\s+themselves\b": "automatically, on their own",
    r"\bis\s+had\b|\bto\s+be\s+had\b": "is available",
    r"\banew\b": "again",
    r"\bby\s+way\s+of\b": "through, by",
    r"\bnot\s+(?:as\s+they\s+should|what\s+they\s+must)\s+be\b": "wrong, and how",
    r"\brubs?\b": "friction",
    r"\bbars?\s+the\s+way\b": "blocks the path",
    r"\bis\s+called\s+by\s+its\b": "has the name of its",
    r"\bby\s+place\b": "by position",
    r"\bof\s+one\s+length\b": "of equal length",
    r"\bas\s+many\s+of\s+each\b": "the same number of each",
    r"\bnobody\s+knows\b": "unknown",
    r"\bma(?:k|d)es?\s+up\s+for\b": "compensates",
    r"\b(?:is|are)\s+told\s+(?!apart\b)": "receives, is called with",
}
"""Phrase, also across lines → what to write instead."""

ENDINGS = {".md", ".py", ".toml"}
SKIPPED = ("tests/", "docs/style.md", "docs/reference/glossary.md", "tools/check_language.py",
           "docs/generated/", "CHANGELOG.md")  # fmt: skip
"""Places that quote the phrases, and texts of the past."""


def tracked_files() -> list[Path]:
    """All files that git knows or would add."""
    words = ["git", "ls-files", "-co", "--exclude-standard"]
    names = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    return [ROOT / name for name in names.splitlines()]


def odd_phrases(text: str) -> list[tuple[int, str, str]]:
    """(line, phrase, what to write instead) of each phrase in a text, also across lines."""
    found = []
    for pattern, instead in PHRASES.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            phrase = " ".join(match[0].split())
            found.append((text.count("\n", 0, match.start()) + 1, phrase, instead))
    return sorted(found)


def is_checked(path: Path) -> bool:
    """Whether the words of a file are checked."""
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return path.is_file() and path.suffix in ENDINGS and not name.startswith(SKIPPED)


def main(arguments: list[str]) -> int:
    files = [Path(name).resolve() for name in arguments] or tracked_files()
    count = 0
    for path in files:
        if is_checked(path):
            for line, phrase, instead in odd_phrases(path.read_text(encoding="utf-8")):
                place = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
                print(f"{place}:{line}: '{phrase}'; write: {instead}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
