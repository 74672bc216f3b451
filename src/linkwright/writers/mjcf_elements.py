"""Elements of MJCF with numbers as attributes."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np


def add_mjcf_element(above: ET.Element, tag: str, **attributes: object) -> ET.Element:
    """Add an element; numbers are written with all their digits, arrays separated by spaces."""
    texts = {key: mjcf_attribute_text(value) for key, value in attributes.items()}
    return ET.SubElement(above, tag, texts)


def mjcf_attribute_text(value: object) -> str:
    """Return a text, a number, or an array of numbers as an attribute."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray | list | tuple):
        return " ".join(mjcf_attribute_text(float(x)) for x in value)
    return repr(float(value) + 0.0).removesuffix(".0")  # type: ignore[arg-type]
