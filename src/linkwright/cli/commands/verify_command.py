"""`linkwright verify`: proofs and checks of the equations of motion."""

from __future__ import annotations

from .. import options
from ..command import register_command
from ..command_output import CheckFailedError, CommandOutcome, show_command_progress


@register_command("Equations")
def verify(
    mechanism: options.MechanismFile,
    *,
    by: options.FormulationsOption,
    beta: options.BetaOption = None,
    gamma: options.GammaOption = None,
    iterations: options.IterationsOption = None,
) -> CommandOutcome:
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
        report = verification.verify(
            mechanism, by=by, beta=beta, gamma=gamma, iterations=iterations
        )
    failed = CheckFailedError(f"failed: {', '.join(report.failed)}", where=report.mechanism)
    return CommandOutcome(
        report.as_dict(), lambda: print(report), failure=None if report.passed else failed
    )
