"""Shaded triangles: the surfaces of shapes as one collection, sorted by depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats

if TYPE_CHECKING:
    from matplotlib.collections import PolyCollection

    from .glyph_brush import GlyphBrush
    from .shape_surfaces import ShapeSurface

SURFACE_LAYER = 3.4
"""In matplotlib's drawing order: above ground, below links and joints."""
_PALENESS = 0.5
"""The share of white in the colours of surfaces, so that the glyphs in front stay visible."""
_LEAST_BRIGHTNESS = 0.55
"""Of triangles that the light does not meet."""
_LIGHT = np.array([0.35, 0.55, 0.75])
"""Direction of the light by right, up and toward the eye."""
_MOST_VECTOR_TRIANGLES = 1500
"""More of them are written to SVG and PDF files as an image."""


def shaded_triangles(brush: GlyphBrush, surfaces: Sequence[ShapeSurface]) -> PolyCollection:
    """Return the triangles of surfaces at the placements of a brush, the nearest last."""
    from matplotlib.collections import PolyCollection

    view = brush.view
    corners = np.concatenate(
        [
            brush.glyph_points_in_world(one.link, one.triangles.reshape(-1, 3)).reshape(-1, 3, 3)
            for one in surfaces
        ]
    )
    colors = np.concatenate(
        [np.tile(_pale_color(brush, one), (len(one.triangles), 1)) for one in surfaces]
    )
    order = np.argsort(view.depth(corners).mean(axis=1), kind="stable")
    corners, colors = corners[order], colors[order]
    colors[:, :3] *= _brightness(corners, np.array([view.right, view.up, view.toward_eye]))[:, None]
    found = PolyCollection(
        list(view(corners)),
        facecolors=colors,
        edgecolors=colors,
        linewidths=0.25,
        zorder=SURFACE_LAYER,
        rasterized=len(corners) > _MOST_VECTOR_TRIANGLES,
    )
    found.set_gid("shapes")
    return found


def _pale_color(brush: GlyphBrush, surface: ShapeSurface) -> Floats:
    """Return the colour (4,) of a surface: that of its file or of its link, with white."""
    from matplotlib.colors import to_rgba

    given = surface.color if surface.color is not None else to_rgba(brush.link_color(surface.link))
    color = np.array(given, dtype=float)
    color[:3] = _PALENESS + (1 - _PALENESS) * color[:3]
    return color


def _brightness(corners: Floats, axes: Floats) -> Floats:
    """Return how bright triangles (n, 3, 3) are, whichever side of them is seen."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) @ axes.T
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, size, out=np.zeros_like(normals), where=size > 0)
    normals *= np.where(normals[:, 2:] < 0, -1.0, 1.0)  # toward the eye
    lit = np.clip(normals @ (_LIGHT / np.linalg.norm(_LIGHT)), 0.0, 1.0)
    found: Floats = _LEAST_BRIGHTNESS + (1 - _LEAST_BRIGHTNESS) * lit
    return found
