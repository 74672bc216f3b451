"""The reference of all public names, from their numpydoc docstrings: one page a name.

Docstrings of this project are numpydoc with Markdown inside, so that they are written here as
Markdown for MyST (autosummary would read them as reStructuredText). Examples are those that
`pytest --doctest-modules` runs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from numpydoc.docscrape import NumpyDocString

import linkwright as lw

TITLES = {
    "linkwright": "The main functions: `import linkwright as lw`",
    "linkwright.comparison": "Comparison of formulations, and of mechanisms on a task",
    "linkwright.control": "Controllers",
    "linkwright.errors": "Errors and warnings",
    "linkwright.identify": "Inertial parameters that can be identified",
    "linkwright.linearization": "Equilibria, steady and periodic motions, linear models",
    "linkwright.linkages": "Planar linkages and cams",
    "linkwright.live": "Live views",
    "linkwright.motion": "Inverse kinematics, trajectories, plans",
    "linkwright.report": "Reports",
    "linkwright.show": "Pictures and films",
    "linkwright.simulation": "Simulation and its results",
    "linkwright.studies": "Studies: designs, runs and their results",
}
SECTIONS = ("Parameters", "Attributes", "Other Parameters", "Returns", "Yields", "Raises")
PROSE = ("Notes", "References", "See Also")
RESULTS = {
    "linkwright": (
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
}
"""Classes of results that the package does not export, but whose methods people use."""
MODULES = {
    "linkwright.algebra.dual": (
        "Dual numbers and vectors",
        "DualNumber DualVector DualDisplacement dual_rotation dual_rotation_sequence "
        "dual_denavit_hartenberg",
    ),
    "linkwright.formulations.influence.coordinate_transfer": (
        "Transfer to other coordinates, by influence coefficients",
        "InfluenceTransfer InfluenceDynamics dynamics_at_instant frame_influence "
        "invert_coefficients transfer_dynamics dependent_coefficients closure_coefficients "
        "leg_coefficients add_dynamics operational_dynamics",
    ),
    "linkwright.formulations.recurrent": (
        "The recurrent method at one instant",
        "at_instant RecurrentInstant",
    ),
    "linkwright.formulations.walker_orin": (
        "Walker and Orin's four ways to accelerations",
        "walker_orin_accelerations",
    ),
    "linkwright.gpu": ("Kernels for a GPU", "prepare_kernels CudaOptions"),
    "linkwright.kinematics.assembly": ("All assemblies of a mechanism", "assembly_branches"),
    "linkwright.writers": ("Sizes of exported code", "measure_code_sizes CodeSize"),
}
"""Modules that the pages of the site import, with a title and the names that are for users."""


def write(folder: Path) -> None:
    """Writes generated/api: a page for each public name, and one for each package."""
    home = folder / "api"
    home.mkdir(parents=True, exist_ok=True)
    seen: dict[int, str] = {}
    for package, title in packages().items():
        rows, files = [], []
        for name, item in public_items(package):
            if id(item) in seen:
                rows.append((f"[`{name}`]({seen[id(item)]}.md)", summary_of(item)))
                continue
            file = f"{package}.{name}"
            seen[id(item)] = file
            put(home / f"{file}.md", item_page(package, name, item))
            rows.append((f"[`{name}`]({file}.md)", summary_of(item)))
            files.append(file)
        put(home / f"{package}.md", package_page(package, title, rows, files))
    listed = "\n".join(packages())
    put(home / "index.md", f"# Public names\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")


def put(path: Path, text: str) -> None:
    """Writes a page unless it is there already, so that Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def packages() -> dict[str, str]:
    """The packages for users, with titles; new packages are their own title."""
    names = ["linkwright", *(f"linkwright.{name}" for name in sorted(lw._PACKAGES))]
    modules = {name: title for name, (title, _) in MODULES.items()}
    return {name: TITLES.get(name, name) for name in names} | modules


def public_items(package: str) -> Iterator[tuple[str, object]]:
    """Public names of a package and what they are."""
    module = import_module(package)
    if package in MODULES:
        yield from ((name, getattr(module, name)) for name in MODULES[package][1].split())
        return
    names = getattr(module, "__all__", None) or own_names(module)
    for name in sorted(names, key=str.lower):
        if not name.startswith("__"):
            yield name, getattr(module, name)
    for place in RESULTS.get(package, ()):
        module_name, _, name = place.partition(":")
        yield name, getattr(__import__(module_name, fromlist=[name]), name)


def own_names(module: ModuleType) -> list[str]:
    """Public classes and functions that a module without `__all__` defines."""
    found = vars(module).items()
    return [n for n, x in found if inspect.isclass(x) and x.__module__ == module.__name__]


def summary_of(item: object) -> str:
    """The first sentence of a docstring, in one line."""
    first = (inspect.getdoc(item) or "").split("\n\n")[0]
    return escape(" ".join(first.split())).replace("|", "\\|")


def package_page(package: str, title: str, rows: list[tuple[str, str]], files: list[str]) -> str:
    table = "\n".join(f"| {name} | {text} |" for name, text in rows)
    toc = "\n".join(files)
    head = f"# {title}\n\n" + ("" if package == "linkwright" else f"`{package}`\n\n")
    return f"{head}| name | |\n|---|---|\n{table}\n\n```{{toctree}}\n:hidden:\n\n{toc}\n```\n"


def item_page(package: str, name: str, item: object) -> str:
    """The page of one name."""
    title = f"# {name}\n\n"
    if inspect.isclass(item):
        return title + class_body(package, name, item)
    return title + described(
        "function", f"{package}.{name}{signature_of(item)}", documentation(item)
    )


def class_body(package: str, name: str, item: type) -> str:
    """A class with its fields and public methods, those that it inherits included."""
    text = documentation(item)
    if is_dataclass(item) and "**Attributes**" not in text and "**Parameters**" not in text:
        text += field_list(item)
    head = described("class", f"{package}.{name}{constructor_of(item)}", text)
    groups: dict[str, list[str]] = {}
    for member_name, member, owner in public_members(item):
        where = f"{package}.{name}.{member_name}"
        if isinstance(member, property):
            part = described("property", where, documentation(member.fget))
        else:
            part = described(
                "method", where + signature_of(member, skip_first=True), documentation(member)
            )
        groups.setdefault(owner, []).append(part)
    for owner, parts in groups.items():
        head += f"\n## {owner}\n\n" + "\n".join(parts)
    return head


def public_members(item: type) -> Iterator[tuple[str, object, str]]:
    """Public methods and properties with the heading under which they stand."""
    seen = set()
    for owner in item.__mro__:
        if not owner.__module__.startswith("linkwright") or owner.__module__.endswith("displays"):
            continue
        heading = (
            "Methods"
            if owner is item
            else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", owner.__name__).capitalize()
        )
        for name, member in vars(owner).items():
            if name.startswith("_") or name in seen:
                continue
            plain = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            if inspect.isfunction(plain) or isinstance(plain, property):
                seen.add(name)
                yield name, plain, heading


def described(kind: str, head: str, body: str) -> str:
    """A directive of Sphinx's Python domain, whose content is Markdown."""
    ticks = "`" * 6
    module = (
        ":no-index-entry:\n" if kind in ("method", "property") and ".Model." not in head else ""
    )
    return f"{ticks}{{py:{kind}}} {head}\n{module}\n{body}\n{ticks}\n"


def signature_of(item: object, *, skip_first: bool = False) -> str:
    """Names and defaults of the arguments; their types are in the list of parameters."""
    try:
        found = inspect.signature(item)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "()"
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values()]
    if skip_first and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    plain = found.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    return re.sub(r"<[^>]*>", "…", str(plain))


def constructor_of(item: type) -> str:
    return "" if issubclass(item, Exception) else signature_of(item)


def field_list(item: type) -> str:
    """The fields of a dataclass with their types and defaults."""
    rows = []
    for one in fields(item):
        if one.name.startswith("_"):
            continue
        plain = one.default is not MISSING and isinstance(
            one.default, int | float | str | bool | None
        )
        default = f" (default: `{one.default!r}`)" if plain and one.default is not None else ""
        rows.append(f"- `{one.name}` : {escape(str(one.type))}{default}")
    return "\n**Fields**\n\n" + "\n".join(rows) + "\n" if rows else ""


def documentation(item: object) -> str:
    """The docstring as Markdown."""
    text = inspect.getdoc(item) or ""
    parsed = NumpyDocString(text)
    parts = [paragraphs([*parsed["Summary"], "", *parsed["Extended Summary"]])]
    for section in SECTIONS:
        if parsed[section]:
            parts.append(f"\n**{section}**\n")
            parts += [entry(one.name, one.type, one.desc) for one in parsed[section]]
    for section in PROSE:
        if parsed[section] and section != "See Also":
            parts.append(f"\n**{section}**\n\n{paragraphs(parsed[section])}")
    if parsed["Examples"]:
        parts.append(f"\n**Examples**\n\n{examples(parsed['Examples'])}\n")
    return "\n".join(parts)


def examples(lines: list[str]) -> str:
    """Examples as Markdown: blocks that begin with a prompt are code, the others are text."""
    found: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip()):
        is_code = block.lstrip().startswith(">>>")
        found.append(f"```pycon\n{block}\n```" if is_code else escape(block))
    return "\n\n".join(found)


def entry(name: str, kind: str, lines: list[str]) -> str:
    """A parameter or result: its name, its type and what it means."""
    head = f"**{escape(name)}**" if name else ""
    type_ = f"*{escape(kind)}*" if kind else ""
    body = "\n".join(f"  {line}" for line in paragraphs(lines).splitlines())
    return f"- {' : '.join(x for x in (head, type_) if x)}\n\n{body}\n"


def paragraphs(lines: list[str]) -> str:
    """Text of a docstring as Markdown; indented lines and doctests stay as they are."""
    found, code = [], False
    for line in lines:
        is_code = line.startswith(("    ", ">>>")) or (
            code and bool(line.strip()) and line.startswith(" ")
        )
        if is_code and not code:
            found.append("\n```text")
        if code and not is_code:
            found.append("```\n")
        code = is_code
        found.append(line if is_code else escape(line))
    return "\n".join([*found, *(["```\n"] if code else [])])


def escape(text: str) -> str:
    """Text whose signs outside of code do not mean markup."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*_$<>\[\]])", r"\\\1", p) for p in parts)
