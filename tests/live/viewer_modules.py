"""The viewer's modules in Node, from tests."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import linkwright as lw
from tests.node import run_node


@cache
def modules_folder() -> Path:
    """A folder with the viewer's modules, as `live.javascript` gives them."""
    folder = Path(mkdtemp())
    (folder / "package.json").write_text('{"type": "module"}')
    for name, text in lw.live.javascript().items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


_SCRIPT = """
(async () => {
  const given = JSON.parse(require("fs").readFileSync(0, "utf8")), loaded = {};
  for (const name of given.modules) Object.assign(loaded, await import("file://" + given.folder + "/" + name + ".js"));
  const act = new (Object.getPrototypeOf(async function () {}).constructor)("m", "scene", given.code);
  const plain = (key, value) => ArrayBuffer.isView(value) ? Array.from(value) : value;
  console.log(JSON.stringify(await act(loaded, given.scene), plain) ?? "null");
})();
"""


def run_modules(modules: str, code: str, scene: lw.live.LiveScene | None = None) -> Any:
    """What code returns that sees the exports of modules as `m`, and a scene."""
    given = {
        "modules": modules.split(),
        "folder": str(modules_folder()),
        "code": code,
        "scene": None if scene is None else json.loads(scene.json),
    }
    return json.loads(run_node(_SCRIPT, json.dumps(given)))


STATE = """
const state = new m.LiveState(scene, await m.loadFunctions(scene));
const simulation = new m.Simulation(state);
"""
"""The start of code that moves a mechanism."""
