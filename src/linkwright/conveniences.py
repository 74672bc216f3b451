"""Methods of results that call a higher layer: the only calls that point up.

`run.plot()` belongs to the run for its user, but drawing lies above simulation. Such a method
looks up the function that does the work in this table when it is called; nothing else in the
package imports upward.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import HigherLayerFunction

CONVENIENCES = {
    "Equations.closed_form": "forms:closed_form",
    "ClosedForm.symbol_source": "checking.symbol_forms:find_symbol_source",
    "ClosedForm.absence": "checking.symbol_forms:why_symbol_is_absent",
    "Equations.equation_set": "forms:typeset_equation_set",
    "Equations._repr_latex_": "forms:readable_equations_latex",
    "LiveDisplayed._repr_mimebundle_": "live.notebook_display:notebook_bundle",
    "LiveDisplayed._display_": "live.notebook_display:marimo_display",
    "show.viewer": "live.notebook_display:viewer",
    "compile.cuda": "gpu:compile_cuda_model",
    "jax.register_kernel": "gpu.framework_kernels:register_kernel_handler",
    "torch.run_kernel": "gpu.framework_kernels:run_kernel_on_tensors",
    "Run.plot": "show:plot",
    "Run.cyclograph": "show:cyclograph",
    "Run.animate": "show:animate",
    "Run.repeat": "control:made_by",
    "Kinematics.plot": "show:plot",
    "Kinematics.cyclograph": "show:cyclograph",
    "Kinematics.animate": "show:animate",
    "LinkageAnalysis.plot": "show:linkage_figure",
    "InstantCenters.plot": "show:instant_center_figure",
    "CouplerCurve.plot": "show:coupler_curve_figure",
    "BearingForces.plot": "show:bearing_figure",
    "ShakingForces.plot": "show:shaking_figure",
    "CamMotion.plot": "show:cam_motion_figure",
    "CamProfile.plot": "show:cam_profile_figure",
    "Plan.save": "show:plan_picture",
    "Plan.plot": "show:plan_histories",
    "Plan.draw": "show:plan_ends",
    "EquationComparison.to_html": "report.equations_page:equation_comparison_page",
    "ExportedFunction.of_step": "exports.step_functions:record_step_function",
    "ExportRequest.write_c_motion": "exports.c_motion:write_c_motion",
    "ExportRequest.write_wasm": "exports.wasm_export:write_wasm_export",
    "ExportRequest.write_fmu": "exports.fmu_export:write_fmu_export",
    "Study.report": "report.study_page:write_study_page",
    "Homework.to_html": "report.homework_page:marks_page",
}
"""Method → "module:function" that does its work, relative to the package."""


def find_convenience(method: str) -> HigherLayerFunction:
    """Return the function that does the work of a method of a result."""
    module, function = CONVENIENCES[method].split(":")
    target: HigherLayerFunction = getattr(import_module(f".{module}", __package__), function)
    return target
