"""Versions of SDF: the root element of a file, with old conventions in today's words."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import FileError
from .xml_reader import XmlElement, read_xml

AXES_IN_JOINT_FRAME = (1, 5)
"""The first version in which axes are given in the frame of the joint, not of the model."""


def read_sdf_root(text: str | bytes) -> XmlElement:
    """Return the <sdf> element of a file; axes of files before 1.5 are marked as axes in the
    model's frame."""
    root = read_xml(text)
    if root.tag != "sdf":
        raise FileError(f"the root element is <{root.tag}>", remedy="an SDF file starts with <sdf>")
    if _sdf_version(root) < AXES_IN_JOINT_FRAME:
        for axis in _axes(root):
            if axis.first_child("use_parent_model_frame") is None:
                mark = XmlElement("use_parent_model_frame", {}, axis.line, text="true")
                axis.children.append(mark)
    return root


def _sdf_version(root: XmlElement) -> tuple[int, int]:
    """Return the version that a file states, as two numbers."""
    text = root.required_attribute("version")
    words = text.strip().split(".")
    if len(words) not in (2, 3) or not all(word.isdecimal() for word in words) or words[0] != "1":
        raise FileError(
            f"the version of SDF is '{text}'",
            where=f"line {root.line}",
            remedy='write the version of the format, such as <sdf version="1.9">',
        )
    return int(words[0]), int(words[1])


def _axes(element: XmlElement) -> Iterator[XmlElement]:
    """Yield all <axis> and <axis2> elements of joints below an element."""
    for child in element.children:
        if element.tag == "joint" and child.tag in ("axis", "axis2"):
            yield child
        else:
            yield from _axes(child)
