"""Public names have numpydoc docstrings: every parameter, what is returned, and an example.

The examples run in test_examples.py.

Public names are those that `linkwright` and its packages for users export, and the public methods
of the classes among them and of the results of these functions. The functions of `Model` that
tools/write_model_functions.py writes have a form of their own, which test_editors.py checks.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import pytest

import linkwright as lw
from linkwright.model import functions as generated
from linkwright.model.model_properties import ModelProperties

PACKAGES = ("linkwright", *(f"linkwright.{name}" for name in lw._PACKAGES if name != "errors"))
"""Packages for users, which export what they have by `__all__`."""

RESULTS = (
    "linkwright.kinematics.mobility_analysis:Mobility",
    "linkwright.verification.verification_report:VerificationReport",
    "linkwright.checking.check_report:CheckReport",
    "linkwright.checking.check_report:Finding",
    "linkwright.checking.check_report:Repair",
    "linkwright.checking.homework:Homework",
    "linkwright.checking.homework:Marks",
    "linkwright.forms.closed_forms:ClosedForm",
    "linkwright.forms.equation_set_typesetting:TypesetEquationSet",
    "linkwright.writers.export_target:ExportedFiles",
    "linkwright.frameworks.jax_functions:JaxFunctions",
    "linkwright.frameworks.torch_functions:TorchFunctions",
    "linkwright.gpu.cuda_model:CudaModel",
)
"""Classes that only functions make: their methods are public too."""

TRANSFER = "linkwright.formulations.influence.coordinate_transfer"
MODULES = {
    "linkwright.algebra.dual": "DualNumber DualVector DualDisplacement dual_rotation "
    "dual_rotation_sequence dual_denavit_hartenberg",
    TRANSFER: "InfluenceTransfer InfluenceDynamics dynamics_at_instant frame_influence "
    "invert_coefficients transfer_dynamics dependent_coefficients closure_coefficients "
    "leg_coefficients add_dynamics operational_dynamics",
    "linkwright.formulations.recurrent": "at_instant RecurrentInstant",
    "linkwright.formulations.walker_orin": "walker_orin_accelerations",
    "linkwright.gpu": "prepare_kernels CudaOptions",
    "linkwright.kinematics.assembly": "assembly_branches",
    "linkwright.writers": "measure_code_sizes CodeSize",
}
"""Modules that the pages of the site import, and what they use of them."""

GENERATED = {name for one in vars(generated).values() if inspect.isclass(one) for name in vars(one)}

SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    parts = SECTION.split(text)
    return dict(zip(["Summary", *parts[1::2]], [parts[0], *parts[2::2]], strict=True))


def documented_names(section: str) -> set[str]:
    """Names of a section: those of lines that are not indented, before the colon."""
    heads = [line.split(" : ")[0] for line in section.splitlines() if line and line[0] != " "]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def public_classes_and_functions() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in module.__all__:
            one = getattr(module, name)
            if callable(one) and one not in found.values():
                found[f"{package}.{name}"] = one
    for place in RESULTS:
        module_name, name = place.split(":")
        found[f"linkwright.{name}"] = getattr(import_module(module_name), name)
    for module_name, names in MODULES.items():
        for name in names.split():
            found[f"{module_name}.{name}"] = getattr(import_module(module_name), name)
    return found | {"linkwright.ModelProperties": ModelProperties}


def public_members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that the class itself defines."""
    for name, member in vars(kind).items():
        if name.startswith("_") or (kind is lw.Model and name in GENERATED):
            continue
        if isinstance(member, staticmethod | classmethod):
            member = member.__func__
        if inspect.isfunction(member) or isinstance(member, property):
            yield name, member


PUBLIC = public_classes_and_functions()
FUNCTIONS = {name: one for name, one in PUBLIC.items() if not inspect.isclass(one)}
CLASSES = {name: one for name, one in PUBLIC.items() if inspect.isclass(one)}
METHODS = {
    f"{name}.{member_name}": member
    for name, one in CLASSES.items()
    for member_name, member in public_members(one)
}


def check_text(one: Any) -> dict[str, str]:
    text = inspect.getdoc(one) or ""
    assert text, "there is no docstring"
    first = text.splitlines()[0]
    assert first.endswith("."), f"the first line is no sentence: {first}"
    assert len(text.splitlines()) == 1 or not text.splitlines()[1], "the first line is a paragraph"
    return sections(text)


def check_signature(one: Any, found: dict[str, str], *, methods: bool = False) -> None:
    signature = inspect.signature(one)
    wanted = [name for name in signature.parameters if name != "self"]
    documented = documented_names(found.get("Parameters", ""))
    if methods and "Parameters" not in found:
        documented = set(re.findall(r"`(\w+)`", found["Summary"]))
    missing = set(wanted) - documented
    assert not missing, f"not in Parameters: {missing}"
    returned = str(signature.return_annotation)
    said = methods and found["Summary"].startswith("Return")
    assert returned == "None" or "Returns" in found or said, "there is no Returns"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_parameters_returns_and_an_example(name: str) -> None:
    one = FUNCTIONS[name]
    found = check_text(one)
    check_signature(one, found)
    assert ">>> " in found.get("Examples", ""), "there is no example"


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_parameters_and_returns(name: str) -> None:
    """A short method may say all in its sentences: "Return the function `name` …"."""
    one = METHODS[name]
    found = check_text(one.fget if isinstance(one, property) else one)
    if not isinstance(one, property):
        check_signature(one, found, methods=True)


@pytest.mark.parametrize("name", CLASSES)
def test_classes_name_their_fields(name: str) -> None:
    one = CLASSES[name]
    check_text(one)
    if is_dataclass(one):
        text = inspect.getdoc(one) or ""
        public = [f.name for f in fields(one) if not f.name.startswith("_")]
        assert not [word for word in public if not re.search(rf"\b{word}\b", text)]
