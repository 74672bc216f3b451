"""Film the main acts of a live page in Chromium: docs/how-to/live-acts.webp.

Run `python -m tools.film_live_pages` in the root of the repository after a change of the viewer. It
needs Chromium, and drives the page by mouse and keyboard as the tests do.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from matplotlib import get_data_path
from PIL import Image, ImageDraw, ImageFont
from tests.live.person import VIEWER, Person
from tests.report.browser import Browser, found

import linkwright as lw

TARGET = Path(__file__).resolve().parents[1] / "docs/how-to/live-acts.webp"
SIZE = (960, 600)
"""Pixels of a picture, without its caption."""
PAGE = (1280, 800)
CAPTION = 34
FRAME_MILLISECONDS, LAST_MILLISECONDS = 350, 1600
"""Duration of a frame of an act, and of its last one, which people read."""
Act = tuple[str, list[Image.Image]]


class Camera:
    """Takes pictures of the page in a browser."""

    def __init__(self, person: Person) -> None:
        self.person, self.browser = person, person.browser

    def picture(self) -> Image.Image:
        """The page as it is."""
        self.browser.evaluate("new Promise((r) => setTimeout(r, 250))")
        data = self.browser.call("Page.captureScreenshot", format="png")["data"]
        shot = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
        return shot.resize(SIZE, Image.Resampling.LANCZOS)

    def open(self, scene: lw.live.LiveScene) -> None:
        """Open the page of a scene as a laptop shows it."""
        path = self.person.folder / "film.html"
        path.write_text(lw.live.page(scene), encoding="utf-8")
        self.browser.open(path, *PAGE)
        self.browser.evaluate(f"{VIEWER}.ready.then(() => 0)")

    def open_panel(self, name: str) -> None:
        """Open one panel beside the picture, and close the others."""
        self.browser.evaluate(
            "for (const d of document.querySelectorAll('.lw-side > details'))"
            f" d.open = d.querySelector('summary').textContent.startsWith('{name}'); 0"
        )

    def run_until(self, time: float) -> list[Image.Image]:
        """Let the mechanism run, with pictures on the way."""
        shots = []
        for k in range(1, 5):
            self.browser.evaluate(f"{VIEWER}.play()")
            self.person.wait(f"{VIEWER}.state.t > {time * k / 4}", "the motion")
            self.browser.evaluate(f"{VIEWER}.pause()")
            shots.append(self.picture())
        return shots


def acts(camera: Camera) -> Iterator[Act]:
    """The acts, each a caption with its pictures."""
    person, browser = camera.person, camera.browser
    bar = lw.gallery("four-bar")
    run = lw.simulate(bar, 2.0, samples=201)
    camera.open(lw.live.scene(bar, run, equations=lw.live.equations_of(bar)))
    x, y = person.place('input[aria-label="theta1, degrees"]')
    browser.evaluate("scrollTo(0, 0)")
    shots = [camera.picture()]
    person.mouse("mousePressed", x, y, buttons=1)
    for k in range(1, 5):
        person.mouse("mouseMoved", x + 11 * k, y, buttons=1)
        shots.append(camera.picture())
    person.mouse("mouseReleased", x + 44, y)
    yield "Move a slider: the loop closes as you drag.", shots

    person.key("r")
    browser.evaluate(f"{VIEWER}.reset()")
    person.type_value("m2, value with unit", "9 kg")
    browser.evaluate("scrollTo(0, 0)")
    yield (
        "What if the coupler had 9 kg? Recorded run dashed, live run solid.",
        camera.run_until(1.4),
    )

    browser.evaluate(f"{VIEWER}.set({{ look: {{ forces: true }} }})")
    camera.open_panel("Free body")
    yield "Forces, a free body and its polygon at the present state.", [camera.picture()]

    camera.open_panel("Equations")
    browser.evaluate("new Promise(requestAnimationFrame)")
    person.mouse("mouseMoved", *person.place('.lw-formula [data-symbol="l2"]'))
    browser.evaluate("scrollTo(0, 0)")
    yield (
        "Point at a symbol: its bodies light up; values are those of this moment.",
        [camera.picture()],
    )

    camera.open(lw.live.scene(lw.gallery("stewart")))
    x, y = person.place(".lw-stage")
    shots = [camera.picture()]
    px, py = browser.evaluate(f"{VIEWER}.whereIs('platform')")
    py += 30  # the plate is seen below its centre of mass
    person.mouse("mousePressed", px, py, buttons=1)
    for k in range(1, 5):
        person.mouse("mouseMoved", px + 16 * k, py - 6 * k, buttons=1)
        shots.append(camera.picture())
    person.mouse("mouseReleased", px + 64, py - 24)
    yield "In space: drag a body, and six legs follow.", shots


def with_caption(shot: Image.Image, text: str) -> Image.Image:
    """A picture with a sentence below it."""
    wide, high = SIZE
    page = Image.new("RGB", (wide, high + CAPTION), "white")
    page.paste(shot, (0, 0))
    font = ImageFont.truetype(str(Path(get_data_path()) / "fonts/ttf/DejaVuSans.ttf"), 17)
    ImageDraw.Draw(page).text((14, high + 6), text, fill="#202020", font=font)
    return page


def main() -> None:
    """Write the film."""
    program = found()
    if program is None:
        raise SystemExit("no Chromium is installed; LINKWRIGHT_BROWSER=… names one")
    frames, times = list[Image.Image](), list[int]()
    with TemporaryDirectory() as folder:
        browser = Browser(program, Path(folder) / "profile", graphics=True)
        try:
            for caption, shots in acts(Camera(Person(browser, Path(folder)))):
                frames += [with_caption(shot, caption) for shot in shots]
                times += [FRAME_MILLISECONDS] * (len(shots) - 1) + [LAST_MILLISECONDS]
        finally:
            browser.close()
    frames[0].save(
        TARGET,
        save_all=True,
        append_images=frames[1:],
        duration=times,
        loop=0,
        quality=55,
        method=6,
    )
    print(f"{TARGET.name}: {len(frames)} frames, {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
