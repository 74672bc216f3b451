"""Label placement: rectangles and obstacles in, positions out; lengths in mm, nothing is drawn.

>>> import numpy as np
>>> from linkwright.show.label_placement import LabelBox, LabelObstacleGrid, find_label_positions
>>> paper = LabelObstacleGrid(low=np.zeros(2), high=np.array([60.0, 40.0]))
>>> paper.add_path(np.array([[5.0, 20.0], [55.0, 20.0]]))
>>> box = LabelBox(size=np.array([8.0, 3.0]), anchors=np.array([[30.0, 20.0]]))
>>> position = find_label_positions([box], paper)[0]
>>> bool(abs(position.center[1] - 20.0) > 1.5), position.leader is None
(True, True)
"""

from .free_positions import (
    SlantedLabelPosition,
    label_position_along_line,
    nearest_free_label_shift,
)
from .label_candidates import LabelBox
from .obstacle_grid import LabelObstacleGrid
from .placement_options import LABEL_PLACEMENT_OPTIONS, LabelPlacementOptions
from .position_search import LabelPosition, find_label_positions

__all__ = [
    "LABEL_PLACEMENT_OPTIONS",
    "LabelBox",
    "LabelObstacleGrid",
    "LabelPlacementOptions",
    "LabelPosition",
    "SlantedLabelPosition",
    "find_label_positions",
    "label_position_along_line",
    "nearest_free_label_shift",
]
