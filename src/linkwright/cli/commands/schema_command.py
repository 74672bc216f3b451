"""`linkwright schema`: the JSON schema of mechanism files."""

from __future__ import annotations

from ..command import register_command
from ..command_output import CommandOutcome, print_command_json


@register_command("Mechanisms")
def schema() -> CommandOutcome:
    """Print the JSON schema of the TOML format, for completion and checks in editors.

    Examples
    --------
    linkwright schema > linkwright.schema.json
    """
    from ...files.toml_reader import FIELDS_NOT_IN_FILES
    from ...mechanism import Mechanism

    properties = Mechanism.model_json_schema()
    for key in FIELDS_NOT_IN_FILES:
        properties["properties"].pop(key)
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **properties}
    return CommandOutcome(found, lambda: print_command_json(found))
