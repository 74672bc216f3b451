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
from linkwright.show.film_page import film_page_data, film_page_policy
from linkwright.show.mechanism_scene import mechanism_scene
from linkwright.show.traced_points import (
    divide_traced_times,
    drawn_placements_at_times,
    find_traced_points,
    traced_path_parts,
)
from linkwright.simulation import Run

from . import runs
from .film import FilmPoses, loop_gap, pixels

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
document.body.dataset.poses = JSON.stringify(root.posesAt(0.123));
document.body.dataset.paths = JSON.stringify(root.paths.map((path) => path.map((one) => one.p)));
new MutationObserver(() => { // a film that begins again passes 0
  const { latest = 0 } = document.body.dataset;
  document.body.dataset.latest = Math.max(latest, root.dataset.time);
}).observe(root, { attributes: true, attributeFilter: ["data-time"] });
root.querySelector("button").onclick();
</script>"""


def data_of(page: str) -> dict:
    return json.loads(re.search(r'application/json">(.*?)</script>', page, re.S)[1])  # type: ignore[index]


def test_the_page_holds_the_motion() -> None:
    """Its coordinates, carried out as the page does, put the tool where the arm has it."""
    run = runs.elbow()
    data = data_of(show.animation_page(run))
    point, film = data["traces"][0], FilmPoses(data)
    for t, (a, b) in zip(run.t, run.q, strict=True):
        hand = [np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b), 0.0]
        found = film.point(t, point["link"], point["point"])
        np.testing.assert_allclose(found, hand, atol=1e-4)
    assert (data["times"][0], data["times"][-1]) == (0.0, 0.5)


FAST = {
    "slider-crank": ("slider-crank", {"theta1": 60.0}, 0.5),
    "four-bar": ("four-bar", {"theta1": 20.0}, 0.5),
    "spatial arm": ("puma560", [5.0, 4.0, 3.0, 20.0, 20.0, 20.0], 0.4),
    "free body": (None, [9.0, 0.5, 3.0, 1.0, 0.0, 4.0], 1.0),
}
BOX = """
[bodies.box]
mass = 1
inertia = { xx = 0.01, yy = 0.02, zz = 0.025 }
[joints.f]
type = "free"
parent = "ground"
child = "box"
[frames.corner]
body = "box"
origin = { xyz = [0.2, 0.1, 0.05] }
"""


def fast_run(case: str, samples: int) -> tuple[Run, list[str]]:
    name, speeds, t = FAST[case]
    mechanism = lw.gallery(name) if name else lw.load(BOX)
    run = lw.simulate(mechanism, t=t, qd0=speeds, samples=samples)
    return run, list(mechanism.frames) or list(mechanism.bodies)


@pytest.mark.parametrize("case", FAST)
@pytest.mark.parametrize("sampled", [1, 8], ids=["samples", "few-samples"])
def test_no_joint_of_a_fast_film_opens_by_a_pixel(case: str, sampled: int) -> None:
    """Loops stay closed, and points are where a run with samples in between has them, also where
    the film's own run has few samples."""
    fine, points = fast_run(case, 401)
    coarse, _ = fast_run(case, 400 // (4 * sampled) + 1)
    data = film_page_data(coarse, trace=points)
    times = np.linspace(0, fine.t[-1], 593)
    if fine.mechanism.loops:
        assert loop_gap(data, fine.mechanism, times) < 0.5
    film, places = FilmPoses(data), {p: lw.compile(fine.mechanism).placement(p) for p in points}
    if sampled == 1:
        for name, point in zip(points, data["traces"], strict=True):
            if name in fine.mechanism.frames:
                shown = [film.point(t, point["link"], point["point"]) for t in fine.t]
                off = np.linalg.norm(shown - places[name](fine.q)[:, :3, 3], axis=1)
                assert off.max() * pixels(data) < 1
    assert len(json.dumps(data)) < 60_000
    assert data["error"] <= 0.15


def test_a_film_that_is_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkwright.show.key_frames._MAX_FILM_NUMBERS", 60)
    page = show.animation_page(fast_run("slider-crank", 101)[0])
    assert "joints may open" in page
    assert "joints may open" not in show.animation_page(runs.elbow())


def test_traces_of_fast_pictures_are_smooth() -> None:
    """No chord of a drawn path is off by a tenth of a millimetre, however few the pictures are."""
    run = fast_run("slider-crank", 101)[0]
    scene, times = mechanism_scene(run.mechanism), np.linspace(0, 0.5, 16)
    points = find_traced_points(scene, ["crank"])
    parts = traced_path_parts(scene, run, times, points, 5e-4 * scene.size)
    path = points[0].path(drawn_placements_at_times(scene, run, divide_traced_times(times, parts)))
    turns = np.diff(np.unwrap(np.arctan2(*np.diff(path[:, :2], axis=0).T)))
    assert np.abs(turns).max() < 0.2


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
    hashes = re.findall(r"sha256-[^&]*", html.escape(film_page_policy(probe)))
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
    assert float(facts["latest"]) > 0
    assert "CONSOLE" not in done.stderr
    shown = FilmPoses(data_of(text))(0.123)
    for k, (*place, w, x, y, z) in enumerate(json.loads(html.unescape(facts["poses"]))):
        R, p = shown[k]
        np.testing.assert_allclose(place, p, atol=1e-12)
        np.testing.assert_allclose(
            [w * w + x * x - y * y - z * z, 2 * (w * z + x * y)], R[:2, 0], atol=1e-12
        )
    for path in json.loads(html.unescape(facts["paths"])):
        turns = np.diff(np.unwrap(np.arctan2(*np.diff(np.array(path)[:, :2], axis=0).T)))
        assert np.median(np.abs(turns)) < 0.05, "paths are smooth curves"


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
    with pytest.raises(FileError, match=r"'.avi' is not a format for films; use .mp4, .gif, .html"):
        run.animate(tmp_path / "run.avi")
    with pytest.raises(LinkwrightError, match=r"the speed must be above 0 \(got 0\)"):
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
