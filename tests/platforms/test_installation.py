"""The wheel and the sdist in a clean environment: they install, and do what the README shows."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(*words: str | Path, cwd: Path) -> str:
    """The standard output of a command, which must succeed."""
    found = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=cwd)
    assert found.returncode == 0, f"{words}\n{found.stdout}\n{found.stderr}"
    return found.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sdist, and the wheel that is built from it."""
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return {"wheel": wheel, "source": source}


@pytest.fixture(scope="module")
def python(archives: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of an environment with nothing but the wheel and its dependencies."""
    place = tmp_path_factory.mktemp("clean") / "venv"
    run(sys.executable, "-m", "venv", place, cwd=place.parent)
    program = place / "bin/python"
    run(program, "-m", "pip", "install", "--quiet", archives["wheel"], cwd=place.parent)
    return program


@pytest.mark.slow
def test_the_archives_are_complete(archives: dict[str, Path]) -> None:
    """All files of the package are in both, and nothing else is in the wheel."""
    package = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/linkwright").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(archives["wheel"]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (place,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        metadata = email.message_from_bytes(wheel.read(place))
    assert names == package
    assert metadata["Name"] == "linkwright"
    with tarfile.open(archives["source"]) as source:
        inside = {name.partition("/")[2] for name in source.getnames()}
    assert {f"src/{name}" for name in package} <= inside
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"} <= inside


@pytest.mark.slow
def test_a_clean_environment_does_what_the_readme_shows(python: Path, tmp_path: Path) -> None:
    """Its Python blocks run in order and its commands succeed, without any extra."""
    script = tmp_path / "readme.py"
    script.write_text("".join(re.findall(r"```python\n(.*?)```", README, re.S)), encoding="utf-8")
    assert "M[2,2] = m2*lc2^2 + I2" in run(python, script, cwd=tmp_path)
    assert (tmp_path / "four-bar.html").stat().st_size > 10_000
    commands = [
        line.split("  #")[0].split()
        for block in re.findall(r"```sh\n(.*?)```", README, re.S)
        for line in block.splitlines()
        if line.startswith("linkwright ")
    ]
    assert len(commands) >= 8
    for _, *words in commands:
        assert run(python.parent / "linkwright", *words, cwd=tmp_path).strip()


def test_classifiers_name_the_python_that_is_tested() -> None:
    """One version of Python and one system; the README names the same ones."""
    versions = [
        text.rpartition(" :: ")[2]
        for text in PROJECT["classifiers"]
        if re.search(r"Python :: \d+\.\d+", text)
    ]
    assert versions == ["3.11"]
    assert f"Tested with Python {versions[0]} on Linux" in README
    assert "Operating System :: POSIX :: Linux" in PROJECT["classifiers"]


def test_the_version_is_the_same_everywhere() -> None:
    import linkwright as lw

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert PROJECT["version"] == lw.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.findall(r"^## (\S+) \((\S+)\)$", changelog, re.M)[0]
    assert version == lw.__version__
    assert f"version: {version}\ndate-released: {date}\n" in citation
