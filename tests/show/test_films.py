"""Films and pages: true speed, nothing from the network, and a browser shows them move."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.errors import FileError, LinkwrightError, MissingExtraError
from linkwright.show.page import policy_of

from . import runs

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

PROBE = """<script>
const root = document.querySelector(".lw-motion"), canvas = root.querySelector("canvas");
const slider = root.querySelector("input"), look = () => canvas.toDataURL();
function at(t) { slider.value = t; slider.oninput(); return look(); }
root.querySelector("button").onclick();
const first = at(0), last = at(slider.max), again = at(0);
const pen = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
document.body.dataset.inked = pen.filter((v, k) => k % 4 === 3 && v > 0).length;
document.body.dataset.moved = first !== last;
document.body.dataset.same = first === again;
canvas.onkeydown(new KeyboardEvent("keydown", {key: "ArrowRight"}));
document.body.dataset.turned = look() !== first;
canvas.ondblclick();
canvas.setPointerCapture = () => {};
canvas.onpointermove({clientX: 90, clientY: 9});
document.body.dataset.hovered = look() !== first;
canvas.onpointerdown({pointerId: 1, clientX: 10, clientY: 10});
canvas.onpointermove({clientX: 50, clientY: 15});
document.body.dataset.dragged = look() !== first;
canvas.onpointerup();
canvas.ondblclick();
document.body.dataset.back = look() === first;
root.querySelector("button").onclick();
</script>"""


def data_of(page: str) -> dict:
    return json.loads(re.search(r'application/json">(.*?)</script>', page, re.S)[1])  # type: ignore[index]


def test_the_page_holds_the_motion() -> None:
    """Its poses, carried out as the page does, put the tool where the arm has it."""
    run = runs.elbow()
    data = data_of(show.animation_page(run))
    point = data["traces"][0]
    times = np.array(data["times"])
    a, b = (np.interp(times, run.t, column) for column in run.q.T)
    hand = np.column_stack([np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b), 0 * a])
    for pose, there in zip(data["poses"], hand, strict=True):
        *p, w, x, y, z = pose[point["link"]]
        u, r = np.array([x, y, z]), np.array(point["point"])
        found = np.array(p) + r + 2 * w * np.cross(u, r) + 2 * np.cross(u, np.cross(u, r))
        np.testing.assert_allclose(found, there, atol=1e-4)
    assert (times[0], times[-1]) == (0.0, 0.5)


@pytest.mark.parametrize("page", [show.animation_page, show.animation_element])
def test_the_page_asks_for_nothing_and_hides_nothing(page: object) -> None:
    text = page(runs.elbow())  # type: ignore[operator]
    for word in (
        "http:",
        "https:",
        "//cdn",
        "src=",
        "href=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttp",
    ):
        assert word not in text.replace("// Draws", "")
    assert text.count("<script") == text.count("</script>") == 2


def test_names_of_users_are_no_markup() -> None:
    page = show.animation_page(runs.elbow(), title="</title><script>alert(1)</script>")
    assert "<script>alert" not in page


def with_script(page: str, probe: str) -> str:
    """The page with a further script, which its policy allows then."""
    hashes = re.findall(r"sha256-[^&]*", html.escape(policy_of(probe)))
    allowed = page.replace("script-src ", f"script-src &#x27;{hashes[0]}&#x27; ", 1)
    return allowed.replace("</body>", probe + "</body>")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
@pytest.mark.parametrize("run", [runs.elbow, runs.four_bar], ids=["elbow", "four-bar"])
def test_a_browser_shows_it_move(run: object, tmp_path: Path) -> None:
    page = tmp_path / "motion.html"
    text = show.animation_page(run())  # type: ignore[operator]
    page.write_text(with_script(text, PROBE), encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
               f"--user-data-dir={tmp_path}/profile", "--virtual-time-budget=3000", "--dump-dom", page.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    facts = dict(re.findall(r'data-(\w+)="([^"]*)"', done.stdout))
    assert {facts[key] for key in ("moved", "same", "turned", "dragged", "back")} == {"true"}, (
        done.stderr
    )
    assert facts["hovered"] == "false"
    assert int(facts["inked"]) > 1000
    assert float(facts["time"]) > 0
    assert "CONSOLE" not in done.stderr


def test_a_gif_runs_at_true_speed(tmp_path: Path) -> None:
    from PIL import Image

    for speed, count in ((1.0, 6), (0.5, 11)):
        path = runs.elbow().animate(tmp_path / "run.gif", speed=speed, rate=10)
        with Image.open(path) as film:
            assert film.n_frames == count
            assert film.info["duration"] == 100
    assert [p.name for p in tmp_path.iterdir()] == ["run.gif"]


def test_an_mp4_runs_at_true_speed(tmp_path: Path) -> None:
    encoder = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    path = runs.elbow().animate(tmp_path / "run.mp4", rate=20)
    assert [p.name for p in tmp_path.iterdir()] == ["run.mp4"]
    done = subprocess.run(
        [encoder, "-i", str(path), "-f", "rawvideo", "-pix_fmt", "gray", "-"], capture_output=True
    )
    words = done.stderr.decode()
    assert "20 fps" in words
    assert "Duration: 00:00:00.55" in words  # the last picture stays for a twentieth
    wide, high = map(int, re.search(r"Video: h264.* (\d{2,4})x(\d{2,4})", words).groups())  # type: ignore[union-attr]
    pictures = np.frombuffer(done.stdout, dtype=np.uint8).reshape(-1, high, wide).astype(int)
    assert len(pictures) == 11
    assert np.abs(pictures[0] - pictures[-1]).max() > 100


def test_mistakes_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.elbow()
    with pytest.raises(FileError, match=r"'.avi' is no format of films; use .mp4, .gif, .html"):
        run.animate(tmp_path / "run.avi")
    with pytest.raises(LinkwrightError, match="0 is no speed"):
        run.animate(tmp_path / "run.html", speed=0.0)
    with pytest.raises(LinkwrightError, match="500 pictures a second"):
        run.animate(tmp_path / "run.gif", rate=500)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"imageio-ffmpeg; install linkwright\[show\]"):
        run.animate(tmp_path / "run.mp4")
    assert not list(tmp_path.iterdir())


def test_a_page_of_something_that_rolls() -> None:
    run = lw.simulate(lw.gallery("rolling-disk"), t=0.2, qd0={"phi": 3.0}, samples=21)
    kinds = {shape["kind"] for shape in data_of(show.animation_page(run))["shapes"]}
    assert {"wheel", "spoke", "floor", "grid", "center"} <= kinds
