"""`make docs`: the README and the documents as web pages in out/docs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import markdown

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out" / "docs"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>
body{{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}
pre{{background:#f5f5f5;padding:.8em;overflow-x:auto}} code{{font-size:.92em}}
table{{border-collapse:collapse;display:block;overflow-x:auto}}
img{{max-width:100%}}
td,th{{border-bottom:1px solid #ddd;padding:.25em .7em;text-align:left}}
</style></head><body><nav>{links}</nav>{body}</body></html>"""


def draw_pictures(folder: Path) -> None:
    """Figures of papers and linkages by the example scripts, and every gallery mechanism."""
    import linkwright as lw
    from linkwright import show

    folder.mkdir(parents=True)
    scripts = [path for path in (ROOT / "examples").glob("*.py") if path.name != "demo.py"]
    for script in sorted(scripts):
        subprocess.run([sys.executable, str(script), str(folder)], check=True, cwd=ROOT)
    for name in lw.gallery():
        show.figure_of(lw.gallery(name), names=True, path=folder / f"gallery-{name}.svg")


def sources() -> list[Path]:
    """README, CONTRIBUTING and CHANGELOG, then docs/, docs/extend/ and docs/papers/ by name."""
    first = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
    docs = ROOT / "docs"
    folders = [docs, *sorted(path for path in docs.iterdir() if path.is_dir())]
    return [*first, *(path for folder in folders for path in sorted(folder.glob("*.md")))]


def write_pages(out: Path) -> int:
    """All documents as pages, and what else of this repository they link to; how many pages."""
    links = " · ".join(f'<a href="{path.stem}.html">{path.stem}</a>' for path in sources())
    for path in sources():
        text = relinked(path, out)
        text = re.sub(r"\$\$M.*?\$\$", "*M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇) + J(q)ᵀλ*", text)
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
        page = PAGE.format(title=path.stem, links=links, body=body)
        (out / f"{path.stem}.html").write_text(page, encoding="utf-8")
    return len(sources())


def relinked(path: Path, out: Path) -> str:
    """A document whose links lead to where things are among the pages."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"\]\(([^)\s]+)\)", lambda found: f"]({led(found[1], path, out)})", text)


def led(link: str, source: Path, out: Path) -> str:
    """Where a link of a document leads on its page: to another page, or to a copy of a file."""
    file, hash_sign, anchor = link.partition("#")
    target = (source.parent / file).resolve()
    if target in sources():
        return f"{target.stem}.html{hash_sign}{anchor}" if file else link
    if not file or not target.is_file():
        return link
    copy = out / "files" / target.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(target, copy)
    return f"{copy.relative_to(out).as_posix()}{hash_sign}{anchor}"


def main() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    draw_pictures(OUT / "pictures")
    print(f"{write_pages(OUT)} pages in {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
