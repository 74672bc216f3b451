"""<include> of SDF: the model of another file, as a nested model or merged into the one around."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError
from .sdf_frames import MODEL_FRAME, required_sdf_text
from .sdf_versions import read_sdf_root
from .xml_reader import XmlElement, read_xml

_PATH_VARIABLES = ("SDF_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
"""Variables of the environment with folders of models, as Gazebo uses them."""


@dataclass(frozen=True)
class SdfInclude:
    """An included model, with the name, pose and other choices of its <include>."""

    file: Path
    root: XmlElement
    model: XmlElement
    is_static: bool
    is_merged: bool

    @property
    def proxy_name(self) -> str:
        """The name of the frame that stands for the model's own, once it is merged."""
        return f"_merged__{self.model.attributes['name']}__model__"

    def proxy_frame(self) -> XmlElement:
        """Return the frame for a merged model: where it is, and (`link`) what it is fixed to."""
        pose = self.model.first_child("pose")
        links = [link.attributes.get("name", "") for link in self.model.children_with_tag("link")]
        link = self.model.attributes.get("canonical_link", links[0] if links else "")
        attributes = {"name": self.proxy_name, "link": link}
        children = [pose] if pose is not None else []
        return XmlElement("frame", attributes, self.model.line, children)

    def merged_contents(self) -> XmlElement:
        """Return the model with poses relative to the frame that stands for its own."""
        children = [
            self.merged_element(child) for child in self.model.children if child.tag != "pose"
        ]
        return XmlElement("model", self.model.attributes, self.model.line, children)

    def merged_element(self, element: XmlElement) -> XmlElement:
        """Return an element of the model that refers to the frame for the merged model."""
        found = self.renamed_element(element)
        is_placed = element.tag in ("link", "model", "include")
        if element.tag == "frame" and not element.attributes.get("attached_to"):
            found.attributes["attached_to"] = self.proxy_name
        if is_placed:
            pose = found.first_child("pose")
            if pose is None:
                pose = XmlElement("pose", {}, element.line)
                found.children.append(pose)
            pose.attributes.setdefault("relative_to", self.proxy_name)
        return found

    def renamed_element(self, element: XmlElement) -> XmlElement:
        """Return a copy of an element in which `__model__` is the frame for the merged model."""
        if element.tag == "model":  # its own __model__ is another
            return XmlElement(
                element.tag, dict(element.attributes), element.line, list(element.children)
            )
        attributes = {
            key: self.proxy_name if value == MODEL_FRAME else value
            for key, value in element.attributes.items()
        }
        text = self.proxy_name if element.text.strip() == MODEL_FRAME else element.text
        children = [self.renamed_element(child) for child in element.children]
        return XmlElement(element.tag, attributes, element.line, children, text)


def read_sdf_include(include: XmlElement, path: Path | None) -> SdfInclude:
    """Return the model that an <include> in the file at `path` names."""
    uri = required_sdf_text(include, "uri")
    file = next((place for place in _included_file_places(uri, path) if place.is_file()), None)
    if file is None:
        raise FileError(
            f"the included model '{uri}' is not found",
            where=f"line {include.line}",
            remedy=_missing_include_remedy(uri, path),
        )
    try:
        root = read_sdf_root(file.read_bytes())
    except FileError as error:
        raise error.within(uri) from None
    models = list(root.children_with_tag("model"))
    if len(models) != 1:
        raise FileError(
            f"{file.name} has {len(models)} <model>, not one",
            where=uri,
            remedy="include a file with a single model",
        )
    attributes = dict(models[0].attributes)
    for key in ("name", "placement_frame"):
        chosen = include.first_child(key)
        if chosen is not None:
            attributes[key] = chosen.text.strip()
    children = [c for c in models[0].children if c.tag not in ("pose", "static")]
    for tag in ("pose", "static"):
        chosen = include.first_child(tag) or models[0].first_child(tag)
        children += [chosen] if chosen is not None else []
    static = include.first_child("static")
    return SdfInclude(
        file,
        root,
        XmlElement("model", attributes, include.line, children),
        is_static=static is not None and static.text.strip() in ("true", "1"),
        is_merged=include.attributes.get("merge") in ("true", "1"),
    )


def _missing_include_remedy(uri: str, path: Path | None) -> str:
    """Return what to do about an included model that is not found."""
    if "://" in uri and not uri.startswith(("model://", "file://")):
        return "download it, and name its local folder or file in <uri>"
    if path is None:
        return "give the path of the file, not its text: models are found next to the file"
    return f"put its folder next to this file, or add the folder above it to {_PATH_VARIABLES[1]}"


def _included_file_places(uri: str, path: Path | None) -> Iterator[Path]:
    """Yield the places where an included model may be: beside the file, in the folders above it,
    and in those that the environment names."""
    if path is None or ("://" in uri and not uri.startswith(("model://", "file://"))):
        return
    name = uri.partition("://")[2] or uri
    folders = [path.resolve().parent, *path.resolve().parent.parents]
    for variable in _PATH_VARIABLES:
        folders += [
            Path(folder) for folder in os.environ.get(variable, "").split(os.pathsep) if folder
        ]
    for folder in folders:
        place = folder / name
        yield place
        yield from (place / stated for stated in _files_in_model_config(place / "model.config"))
        yield place / "model.sdf"


def _files_in_model_config(config: Path) -> list[str]:
    """Return the SDF files that a model.config names, the newest version first."""
    if not config.is_file():
        return []
    try:
        elements = read_xml(config.read_bytes()).children_with_tag("sdf")
    except FileError:
        return []

    def version(element: XmlElement) -> tuple[int, ...]:
        words = element.attributes.get("version", "").split(".")
        return tuple(int(word) for word in words if word.isdecimal())

    return [element.text.strip() for element in sorted(elements, key=version, reverse=True)]
