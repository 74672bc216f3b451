"""`linkwright schema`: the JSON schema of mechanism files."""

from __future__ import annotations

from ..command import command
from ..output import Outcome, emit_json


@command("Mechanisms")
def schema() -> Outcome:
    """Print the JSON schema of the TOML format, for completion and checks in editors.

    Examples
    --------
    linkwright schema > linkwright.schema.json
    """
    from ...files.toml import NOT_IN_FILES
    from ...mechanism import Mechanism

    properties = Mechanism.model_json_schema()
    for key in NOT_IN_FILES:
        properties["properties"].pop(key)
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **properties}
    return Outcome(found, lambda: emit_json(found))
