"""A folder of texts: marks, missing equations, broken files, tables and pages."""

from __future__ import annotations

import csv
import io
import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.checking.documents import extract_document_equations
from linkwright.checking.homework import escape_marks_cell
from linkwright.errors import FileError
from tests.check.homework_texts import LATEX, SOLUTION, WRITTEN_OUT, marks


def test_marks_of_a_class(tmp_path: Path) -> None:
    found = marks(tmp_path, {"anna.txt": SOLUTION, "bob.tex": LATEX}, SOLUTION)
    anna, bob = found
    assert anna.mark == 1.0
    assert anna.passed
    assert (bob.right, bob.wrong, bob.with_repair) == (2, 1, 1)
    assert [x.split(" =")[0] for x in bob.missing] == ["d11", "phi1", "tau1", "tau2"]
    assert bob.solution[1] == "wrong"
    assert bob.present == 2
    assert bob.mark == 2 / (2 + 1 + 4)
    assert "M_{12}" in bob.lines[0]
    assert not found.passed


def test_a_wrong_name_of_a_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "anna.txt").write_text("phi2 = m2*lc2*g*cos(q1 + q2)", encoding="utf-8")
    marks = lw.check_folder(lw.gallery("elbow"), tmp_path)
    with pytest.raises(lw.LinkwrightError, match=r"unknown text 'ana\.txt'; did you mean 'anna"):
        marks["ana.txt"]


def test_without_a_solution_the_mark_is_the_share_of_right_equations(tmp_path: Path) -> None:
    (only,) = marks(tmp_path, {"a.txt": WRITTEN_OUT + "phi2 = m2*lc2*g*sin(q1 + q2)"})
    assert only.mark == 2 / 3
    assert "determine all 2 accelerations" in only.remark


# Which equations of the solution a text has, as a person would say.
PRESENCE = {
    "the solution itself": (SOLUTION, "ppppppp"),
    "equations written out contain M and g": (WRITTEN_OUT, "ppppppp"),
    "solved for accelerations": (
        "D := d11*d22 - d12^2\nn1 := tau1 - phi1 + m2*l1*lc2*sin(q2)*(2*dq1*dq2 + dq2^2)\n"
        "n2 := tau2 - phi2 - m2*l1*lc2*sin(q2)*dq1^2\n"
        "ddq1 = (d22*n1 - d12*n2)/D\nddq2 = (d11*n2 - d12*n1)/D",
        "mmmmmpp",
    ),
    "nothing but Lagrange's equations": ("tau1 = dL_dq1 - L_q1\ntau2 = dL_dq2 - L_q2", "mmmmmmm"),
    "a tautology": ("tau1 = tau1\nphi1 = phi1", "mmmmmmm"),
    "one is the sum of two": (
        WRITTEN_OUT.replace("tau1 =", "tau1 + tau2 = tau2 +"), "ppppppp",
    ),
    "a sum alone does not give its parts": (
        "phi1 + phi2 = (m1*lc1 + m2*l1)*g*cos(q1) + 2*m2*lc2*g*cos(q1 + q2)", "mmmmmmm",
    ),
    "swapped sides and a factor": ("2*m2*lc2^2 + 2*I2 = 2*d22", "mmpmmmm"),
    "a symbol without a meaning is wrong, not missing": (
        "phi2 = blah + 7*blah^2\nd22 = blub*9\nd11 = d11", "mmwmwmm",
    ),
    "wrong is not missing": ("phi2 = m2*lc2*g*sin(q1 + q2)", "mmmmwmm"),
    "wrong, with no single name on a side": (
        "d12*ddq1 + d22*ddq2 + m2*l1*lc2*cos(q2)*dq1^2 + phi2 - tau2 = 0", "mmmmmmw",
    ),
    "what follows from a wrong one is not missing": (
        WRITTEN_OUT.replace("m2*lc2^2 + I2)*ddq2", "m2*lc2 + I2)*ddq2"), "ppwpwpw",
    ),
    "numbers for parameters": (
        "phi2 = 0.5*9.81*cos(q1 + q2)", "mmmmpmm",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PRESENCE)
def test_presence_is_what_a_person_says(case: str, tmp_path: Path) -> None:
    text, expected = PRESENCE[case]
    (only,) = marks(tmp_path, {"a.txt": text}, SOLUTION)
    assert not only.problem
    assert "".join(word[0] for word in only.solution) == expected


def test_a_solution_written_out_is_in_equations_with_names(tmp_path: Path) -> None:
    """And it is not, where one of the names is wrong."""
    wrong = SOLUTION.replace("d12 = m2*(lc2^2 +", "d12 = m2*(lc2 +")
    bare = "\n".join(x for x in SOLUTION.splitlines() if x.startswith("tau"))
    found = marks(tmp_path, {"a.txt": SOLUTION, "b.txt": wrong, "c.txt": bare}, WRITTEN_OUT)
    assert [x.solution for x in found] == [
        ("present", "present"), ("wrong", "wrong"), ("missing", "missing"),
    ]  # fmt: skip


def test_relations_between_coordinates_alone(tmp_path: Path) -> None:
    """Freudenstein's closure of the four-bar, with a factor and swapped sides."""
    across = "l1*sin(theta1) + l2*sin(theta2) - l3*sin(theta3) = 0"
    along = "l1*cos(theta1) + l2*cos(theta2) - l3*cos(theta3) = l4"
    text = "2*l4 = 2*l1*cos(theta1) + 2*l2*cos(theta2) - 2*l3*cos(theta3)"
    (only,) = marks(tmp_path, {"a.txt": text}, f"{along}\n{across}", "four-bar")
    assert only.solution == ("present", "missing")


def test_one_broken_file_does_not_stop_the_others(tmp_path: Path) -> None:
    texts: dict[str, str | bytes] = {
        "binary.txt": b"tau1 = \x00\x01\x02", "empty.txt": b" \n", "latin.txt": "tau1 = ä".encode("latin1"),
        "huge.txt": "tau1 = " + "1 + " * 300_000 + "1", "prose.md": "I did not do my homework.",
        "bracket.txt": "tau1 = ((((", "unknown.txt": "blabla1 = 3*foo", "utf16.txt": SOLUTION.encode("utf-16"),
        "good.txt": SOLUTION, "bom.txt": "\ufeff" + SOLUTION, "sub/good.txt": SOLUTION,
        ".hidden.txt": "x", ".git/x.txt": "x", "essay.pdf": b"%PDF",
    }  # fmt: skip
    folder = tmp_path / "texts"
    folder.mkdir()
    os.mkfifo(folder / "pipe.txt")
    (folder / "lost.txt").symlink_to("nowhere")
    found = marks(tmp_path, texts, SOLUTION)
    assert [x.name for x in found if x.passed] == [
        "bom.txt", "good.txt", "sub/good.txt", "utf16.txt",
    ]  # fmt: skip
    assert found.skipped == ("essay.pdf",)
    assert not any(x.name.startswith(".") for x in found)
    for name, said in {
        "binary.txt": "is a binary file", "empty.txt": "is empty", "latin.txt": "is not UTF-8",
        "huge.txt": "has more than", "pipe.txt": "is not a regular file",
        "lost.txt": "is not a regular file",
    }.items():  # fmt: skip
        assert said in found[name].problem
        assert found[name].mark == 0.0
    for name in ("prose.md", "bracket.txt", "unknown.txt"):
        broken = found[name]
        assert broken.problem or broken.count("unreadable"), name
        assert not broken.passed


def test_texts_share_one_derivation_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from linkwright.checking import checked_mechanism

    derive, count = checked_mechanism.derive, 0

    def counted(*words: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        return derive(*words, **options)

    monkeypatch.setattr(checked_mechanism, "derive", counted)
    texts: dict[str, str | bytes] = {
        "a.txt": "h := m2*l1\nphi2 = h*cos(q1 + q2)", "b.tex": LATEX, "c.txt": SOLUTION,
        "d.txt": "phi2 = m2*lc2*g*cos(q1 + q2)\nh = 1\nd22 = h*I2",
    }  # fmt: skip
    found = marks(tmp_path, texts)
    assert count == 1
    for name in ("a.txt", "c.txt", "d.txt"):
        assert found[name].report == lw.check(lw.gallery("elbow"), str(texts[name]))
    assert count == 4


@pytest.mark.parametrize(
    "text",
    [
        "tau1 = (((\nphi2 = m2*lc2*g*cos(q1 + q2)",
        "tau1 = ddq1 +\nphi2 = m2*lc2*g*cos(q1 + q2)",
        "tau1 = sin(q1\n\nphi2 = m2*lc2*g*cos(q1 + q2)",
        r"\tau_1 = (\ddot q_1 + \\ \phi_2 = m_2 l_{c2} g \cos(q_1 + q_2)",
    ],
)
def test_an_open_bracket_costs_one_equation(text: str, tmp_path: Path) -> None:
    (only,) = marks(tmp_path, {"a.txt": text})
    assert [x.status for x in only.claims] == ["unreadable", "identical"]
    assert only.mark == 0.5
    assert "nreadable" in lw.check_folder(lw.gallery("elbow"), tmp_path / "texts").to_html()


def test_a_text_that_names_a_file_is_not_that_file(tmp_path: Path) -> None:
    (tmp_path / "solution.txt").write_text(SOLUTION, encoding="utf-8")
    (only,) = marks(tmp_path, {"sly.txt": str(tmp_path / "solution.txt")}, SOLUTION)
    assert only.mark == 0.0
    assert not only.passed


def test_unlucky_texts_of_ours_are_rows_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from linkwright.checking import homework

    def fail(*words: object, **options: object) -> None:
        raise RuntimeError("assertion of CasADi")

    monkeypatch.setattr(homework, "check_with_vocabularies", fail)
    (only,) = marks(tmp_path, {"a.txt": "tau1 = 1"})
    assert "RuntimeError: assertion of CasADi" in only.problem


@pytest.mark.parametrize(
    ("text", "ending", "expected"),
    [
        ("tau1 = 1", ".txt", "tau1 = 1"),
        ("Prose = bad.\n$$a = b$$\n```\nc = d\n```\n\\[e = f\\]", ".md", "$$a = b$$\n\nc = d\n\n\n\\[e = f\\]"),
        ("so $a = b$ and $c$ is", ".md", "$a = b$"),
        ("a = b", ".md", "a = b"),
        (r"\begin{document}see $c = d$ \[a = b\] % \[x = y\]" "\n" r"\end{document}", ".tex", r"\[a = b\]"),
        (r"\begin{gather*}a = b\end{gather*}", ".tex", r"\begin{gather*}a = b\end{gather*}"),
    ],
)  # fmt: skip
def test_prose_is_left_out(text: str, ending: str, expected: str) -> None:
    assert extract_document_equations(text, ending) == expected


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        ("phi2 = m2*lc2*g*sin(q1 + q2)", "equation 1 of the solution is not right"),
        ("h := m1", "the solution has no equation"),
        ("", "is empty"),
    ],
)
def test_a_wrong_solution_is_refused(solution: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text(solution, encoding="utf-8")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(SOLUTION, encoding="utf-8")
    with pytest.raises(FileError, match=said) as raised:
        lw.check_folder(lw.gallery("elbow"), tmp_path / "texts", solution=tmp_path / "s.txt")
    assert "s.txt" in str(raised.value)


def test_equations_between_numbers_share_no_names(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("M22 = m2*lc2^2 + I2\n2 + 2 = 4", encoding="utf-8")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("M22 = m2*lc2^2 + I2\n2 + 2 = 5", encoding="utf-8")
    (text,) = lw.check_folder(lw.gallery("elbow"), tmp_path / "texts", solution=tmp_path / "s.txt")
    assert text.solution == ("present", "missing")


def test_the_solution_within_the_folder_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "solution.txt").write_text(SOLUTION, encoding="utf-8")
    (tmp_path / "text10.txt").write_text(SOLUTION, encoding="utf-8")
    (tmp_path / "text2.txt").write_text(SOLUTION, encoding="utf-8")
    found = lw.check_folder(
        lw.gallery("elbow"), tmp_path, solution=str(tmp_path / "." / "solution.txt")
    )
    assert [x.name for x in found] == ["text2.txt", "text10.txt"]


def test_cells_are_no_formulas() -> None:
    for text in ("=1+1", "+x", "-x", "@sum", " =x", "\tx", "\r=x"):
        assert escape_marks_cell(text) == f"'{text}"
    assert escape_marks_cell("anna = b") == "anna = b"


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for key, value in attrs if key in ("src", "href")]


def test_page_and_table_are_safe_and_whole(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>&.txt"
    name = evil.replace("/", "")
    texts: dict[str, str | bytes] = {
        name: "tau1 = <img src=x onerror=y>",
        "=1+1.txt": "phi2 = m2*lc2*g*sin(q1 + q2)",
    }
    found = marks(tmp_path, texts, SOLUTION)
    page = found.to_html()
    seen = _Tags()
    seen.feed(page)
    assert not {"script", "img", "link", "iframe"} & set(seen.tags)
    assert all(address.startswith("#") for address in seen.addresses)
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "&lt;script&gt;" in page
    assert "sin(q1 + q2) is cos" in page
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert rows[0]["name"] == name or rows[1]["name"] == name
    assert any(row["name"] == "'=1+1.txt" and row["wrong"] == "1" for row in rows)
    assert {row["remark"] for row in rows if row["name"] != name} == {""}


def test_cells_of_the_table_are_text_and_the_page_carries_its_fonts(tmp_path: Path) -> None:
    assert [escape_marks_cell(text) for text in ("", "a - b", "=1+1", " @x")] == [
        "",
        "a - b",
        "'=1+1",
        "' @x",
    ]
    (tmp_path / "a.txt").write_text("phi2 = m2*lc2*g*cos(q1 + q2)")
    page = lw.check_folder(lw.gallery("elbow"), tmp_path).to_html()
    assert "Linkwright Math" in page
    assert "data:font/woff2" in page
