"""`linkwright verify`: proofs and checks of the equations of motion."""

from __future__ import annotations

from ..command import register_command
from ..command_output import CheckFailedError, CommandOutcome, show_command_progress
from ..options import FormulationsOption, MechanismFile


@register_command("Equations")
def verify(mechanism: MechanismFile, *, by: FormulationsOption) -> CommandOutcome:
    """Verify the equations of motion by proofs, known motions, energy and inertias.

    The exit status is 1 if a check fails.

    Parameters
    ----------
    by
        Formulations to compare with; default: all.

    Examples
    --------
    linkwright verify elbow
    """
    from ... import verification

    with show_command_progress(f"verifying {mechanism.name}"):
        report = verification.verify(mechanism, by=by)
    failed = CheckFailedError(f"failed: {', '.join(report.failed)}", where=report.mechanism)
    return CommandOutcome(
        report.as_dict(), lambda: print(report), failure=None if report.passed else failed
    )
