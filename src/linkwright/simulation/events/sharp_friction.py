"""Friction that sticks, split into the share that events handle and a smooth rest.

Friction of kinetic levels F⁺ (forward) and F⁻ (backward), static ratio r and Stribeck's velocity
v_s is, in motion,

    f(v) = −(F_m s + F_d s²)(1 + (r − 1) e^{−(v/v_s)²}),   s = sign(v),   F_m, F_d = (F⁺ ± F⁻)/2.

At rest it holds any force between −r F⁺ and r F⁻, which is −r F_d ± r F_m. Events handle the
symmetric share ± r F_m; −r F_d and what makes friction fall with the velocity are ordinary forces.
Without v_s friction falls at once when a slide begins: from ± r F_m to ± F_m + (r − 1) F_d.
"""

from __future__ import annotations

from ...expressions import (
    ONE,
    ZERO,
    Expression,
    expression_text,
    expression_to_float,
    parse_expression,
)
from ...mechanism import Joint, Length, Mechanism, PartTable, joint_coordinate_name


def without_sharp_friction(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism without the friction that events handle: a smooth rest remains as laws
    along coordinates."""
    joints: dict[str, Joint] = {}
    lengths: dict[str, Length] = {}
    for name, joint in mechanism.joints.items():
        joints[name] = joint
        if "friction" not in joint.model_fields_set:
            continue
        kept = []
        for k, force in enumerate(joint.each(joint.friction)):
            is_sharp = _is_zero(joint.each(joint.smoothing)[k], mechanism)
            kept.append(ZERO if is_sharp else force)
            rest = _smooth_rest(joint, k, mechanism) if is_sharp else None
            if rest is not None:
                coordinate = joint_coordinate_name(name, joint.dofs[k].ending)
                lengths[f"friction of {coordinate}"] = _law_along(coordinate, rest)
        if tuple(kept) != joint.each(joint.friction):
            joints[name] = joint.model_copy(update={"friction": kept, "friction_backward": None})
    for name, length in mechanism.lengths.items():
        is_sharp = length.friction != ZERO and _is_zero(length.smoothing, mechanism)
        lengths[name] = length.model_copy(update={"friction": 0}) if is_sharp else length
    if joints == dict(mechanism.joints) and lengths == dict(mechanism.lengths):
        return mechanism
    return mechanism.model_copy(update={"joints": joints, "lengths": lengths})


def _law_along(coordinate: str, force: Expression) -> Length:
    """Return a law along one coordinate that is a loss: it has no potential."""
    return Length(factors=PartTable({coordinate: ONE}), force=force, energy=ZERO)


def _smooth_rest(joint: Joint, k: int, mechanism: Mechanism) -> Expression | None:
    """Return the friction beside the symmetric share of events, as a pull along the coordinate;
    None where there is none."""
    velocity, backward = joint.each(joint.stribeck)[k], joint.friction_backward
    is_two_sided = backward is not None
    has_stribeck = not _is_zero(velocity, mechanism) and joint.static_ratio != ONE
    if not (is_two_sided or has_stribeck):
        return None
    forward = joint.each(joint.friction)[k]
    words = {
        "F": expression_text(forward),
        "B": expression_text(forward if backward is None else joint.each(backward)[k]),
        "r": expression_text(joint.static_ratio),
        "v": expression_text(velocity),
    }
    rest = "({r})*((({F}) - ({B}))/2)"
    if has_stribeck:
        fall = "(({r}) - 1)*(1 - exp(-(Ldot/({v}))^2))"
        level = "((({F}) + ({B}))/2*sign(Ldot) + (({F}) - ({B}))/2)"
        rest += f" - {level}*{fall}"
    return parse_expression(rest.format(**words))


def _is_zero(number: Expression, mechanism: Mechanism) -> bool:
    """Return whether the value of an expression of parameters is zero."""
    return expression_to_float(number, mechanism.values) == 0
