"""WebAssembly modules in Node, from tests: numbers go in and come out with all their bits."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

NODE = shutil.which("node")

needs_node = pytest.mark.skipif(
    NODE is None and os.environ.get("LINKWRIGHT_NODE") != "required", reason="Node is not installed"
)

_SCRIPT = """
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const decode = text => Buffer.from(text, "base64");
const {instance} = {instance: new WebAssembly.Instance(
  new WebAssembly.Module(decode(given.module)), {Math})};
const memory = new Uint8Array(instance.exports.memory.buffer);
const found = [];
for (const call of given.calls) {
  for (const [at, text] of call.writes) memory.set(decode(text), at);
  instance.exports[call.name](...call.arguments);
  found.push(call.reads.map(([at, size]) =>
    Buffer.from(memory.slice(at, at + size)).toString("base64")));
}
console.log(JSON.stringify(found));
"""


def run_node(script: str, text: str = "", *arguments: str) -> str:
    """What a script prints; an error of the script fails the test."""
    assert NODE is not None, "Node is not installed, and LINKWRIGHT_NODE=required"
    done = subprocess.run(
        [NODE, "-e", script, *arguments], input=text, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


class NodeCall:
    """A call of an exported function: arrays that are written first, and arrays that are read."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[float],
        writes: Mapping[int, np.ndarray],
        reads: Mapping[int, np.ndarray],
    ) -> None:
        self.name, self.arguments, self.writes, self.reads = name, arguments, writes, reads

    def to_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "arguments": list(self.arguments),
            "writes": [[at, _encode(x)] for at, x in self.writes.items()],
            "reads": [[at, x.nbytes] for at, x in self.reads.items()],
        }


def call_module(module: bytes, calls: Sequence[NodeCall]) -> list[list[np.ndarray]]:
    """The arrays that are read after each call; `reads` gives their shapes and types."""
    given = {"module": base64.b64encode(module).decode(), "calls": [x.to_json() for x in calls]}
    found = json.loads(run_node(_SCRIPT, json.dumps(given)))
    return [
        [
            np.frombuffer(base64.b64decode(text), like.dtype).reshape(like.shape)
            for text, like in zip(texts, call.reads.values(), strict=True)
        ]
        for texts, call in zip(found, calls, strict=True)
    ]


def _encode(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


_WRAPPER_SCRIPT = """
(async () => {
  const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const { load } = await import("file://" + given.wrapper);
  const mechanism = await load();
  const plain = (key, value) => value instanceof Float64Array ? Array.from(value) : value;
  const found = given.calls.map(([name, ...rest]) => {
    try { return mechanism[name](...rest) } catch (error) { return { error: String(error) } }
  });
  console.log(JSON.stringify(found, plain));
})();
"""


def call_wrapper(wrapper: Path, calls: Sequence[Sequence[object]]) -> list[Any]:
    """What methods of an exported wrapper return: (name, arguments …), by one start of Node."""
    given = {"wrapper": str(wrapper), "calls": [list(call) for call in calls]}
    text = json.dumps(given, default=lambda value: np.asarray(value).tolist())
    found: list[Any] = json.loads(run_node(_WRAPPER_SCRIPT, text))
    return found
