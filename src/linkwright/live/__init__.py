"""Live pages: a mechanism that is drawn, dragged and simulated in a browser, without a server."""

from .live_page import (
    element,
    javascript,
    page,
    page_script,
    script_hash,
    viewer_script,
    viewer_style,
)
from .live_scene import LiveScene, scene
from .scene_equations import LiveEquation, equations_of

__all__ = [
    "LiveEquation",
    "LiveScene",
    "element",
    "equations_of",
    "javascript",
    "page",
    "page_script",
    "scene",
    "script_hash",
    "viewer_script",
    "viewer_style",
]
