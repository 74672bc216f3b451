"""Tapes as CasADi functions, and a script of an optimal-control problem that uses one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...ports import Port
from ...tape import OPERATION_ARITY, Op, Tape
from ...types import SX
from .exported_code import ExportedCode, ExportedFunction

if TYPE_CHECKING:
    import casadi as ca

_OPTIMAL_CONTROL_SCRIPT = """\
\"\"\"{heading}

An optimal-control problem: from rest at q0 to rest at q1 in {time} s with the least sum of squared
forces. Multiple shooting: the states at the ends of all intervals are unknowns, and a Runge-Kutta
step of order 4 leads from one to the next.
\"\"\"

from pathlib import Path

import casadi as ca
import numpy as np

HERE = Path(__file__).parent
forward_dynamics = ca.Function.load(str(HERE / "{file}"))

SIZE, INTERVALS, TIME = {size}, {intervals}, {time}
q0 = np.array({start})
q1 = np.array({end})
p = {parameters}


def rates(x, tau):
    \"\"\"Return the rates of the state x = (q, qd) under the forces tau.\"\"\"
    return ca.vertcat(x[SIZE:], forward_dynamics(x[:SIZE], x[SIZE:], tau, *p))


def runge_kutta_step(x, tau, h):
    \"\"\"Return the state after one interval with constant forces.\"\"\"
    k1 = rates(x, tau)
    k2 = rates(x + h / 2 * k1, tau)
    k3 = rates(x + h / 2 * k2, tau)
    k4 = rates(x + h * k3, tau)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solve():
    \"\"\"Return the states (2 SIZE, INTERVALS + 1) and the forces (SIZE, INTERVALS).\"\"\"
    problem = ca.Opti()
    x = problem.variable(2 * SIZE, INTERVALS + 1)
    tau = problem.variable(SIZE, INTERVALS)
    problem.minimize(ca.sumsqr(tau) * TIME / INTERVALS)
    for k in range(INTERVALS):
        step = runge_kutta_step(x[:, k], tau[:, k], TIME / INTERVALS)
        problem.subject_to(x[:, k + 1] == step)
    rest = np.zeros(SIZE)
    problem.subject_to(x[:, 0] == np.concatenate([q0, rest]))
    problem.subject_to(x[:, INTERVALS] == np.concatenate([q1, rest]))
    path = np.linspace(q0, q1, INTERVALS + 1).T
    problem.set_initial(x, np.vstack([path, np.zeros_like(path)]))
    problem.solver("ipopt", {{"print_time": False}}, {{"print_level": 0, "sb": "yes"}})
    solution = problem.solve()
    return np.reshape(solution.value(x), x.shape), np.reshape(solution.value(tau), tau.shape)


if __name__ == "__main__":
    states, forces = solve()
    print("largest forces:", np.abs(forces).max(axis=1))
"""

_INTERVALS, _SECONDS, _REACH = 40, 1.5, 0.5
"""The problem of the script: intervals, time (s), and displacement of every coordinate."""


def write_casadi_files(code: ExportedCode) -> tuple[dict[str, str | bytes], str]:
    """Return the saved functions, and a script of an optimal-control problem where one can be."""
    files: dict[str, str | bytes] = {
        f"{code.stem}_{function.identifier}.casadi": _save_casadi_function(function)
        for function in code.functions
    }
    usage = f'in Python: casadi.Function.load("{next(iter(files))}")\n'
    forward = next((f for f in code.functions if f.quantity == "forward_dynamics"), None)
    if forward is not None and _is_plain_motion(forward.tape):
        files[f"{code.stem}_optimal_control.py"] = _write_optimal_control_script(code, forward)
        usage += f"python {code.stem}_optimal_control.py\n"
    return files, usage


def _save_casadi_function(function: ExportedFunction) -> bytes:
    """Return the bytes that `casadi.Function.save` writes; it writes only to files."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "function.casadi"
        read_tape_as_casadi(function.tape, function.identifier).save(str(path))
        return path.read_bytes()


def _is_plain_motion(tape: Tape) -> bool:
    """Whether forces alone move as many coordinates as velocities, without constraints or time."""
    names = [port.name for port in (*tape.inputs, *tape.outputs)]
    sizes = {port.size for port in tape.inputs[:3]}
    return names in (["q", "qd", "tau", "qdd"], ["q", "qd", "tau", "p", "qdd"]) and len(sizes) == 1


def _write_optimal_control_script(code: ExportedCode, function: ExportedFunction) -> str:
    """Return the script; it moves every coordinate by the same displacement."""
    size = function.tape.inputs[0].size
    nominal = (
        function.reference.inputs[3] if function.reference and len(function.inputs) > 3 else ()
    )
    return _OPTIMAL_CONTROL_SCRIPT.format(
        heading="\n".join(code.heading),
        file=f"{code.stem}_{function.identifier}.casadi",
        size=size,
        intervals=_INTERVALS,
        time=_SECONDS,
        start=[0.0] * size,
        end=[_REACH] * size,
        parameters=f"[{list(nominal)}]" if nominal else "[]",
    )


def read_tape_as_casadi(tape: Tape, name: str) -> ca.Function:
    """Return the tape as a `casadi.Function` of SX expressions with the same inputs and outputs."""
    import casadi as ca

    inputs = [ca.SX.sym(f"i{k}", *_casadi_shape(port)) for k, port in enumerate(tape.inputs)]
    rules, values = _casadi_operations(), []
    for k, op in enumerate(tape.operations):
        operands = tape.operands[k]
        if op is Op.CONSTANT:
            values.append(ca.SX(float(tape.constants[k])))
        elif op is Op.INPUT:
            port = tape.inputs[operands[0]]
            values.append(inputs[operands[0]][_casadi_index(port, operands[1])])
        else:
            values.append(rules[op](*(values[a] for a in operands[: OPERATION_ARITY[op]])))
    outputs = []
    for port, result in zip(tape.outputs, tape.results, strict=True):
        made = ca.SX(*_casadi_shape(port))
        for entry, value in enumerate(result.tolist()):
            made[_casadi_index(port, entry)] = values[value]
        outputs.append(ca.densify(made))
    names = _casadi_port_names(tape.inputs), _casadi_port_names(tape.outputs, tape.inputs)
    return ca.Function(name, inputs, outputs, *names)


def _casadi_port_names(ports: Sequence[Port], others: Sequence[Port] = ()) -> list[str]:
    """The names of ports; an output that shares its name with an input gets an underscore."""
    taken = {port.name for port in others}
    return [f"{port.name}_out" if port.name in taken else port.name for port in ports]


def _casadi_shape(port: Port) -> tuple[int, int]:
    rows, columns = (*port.shape, 1, 1)[:2]
    return rows, columns


def _casadi_index(port: Port, entry: int) -> tuple[int, int]:
    row, column = divmod(entry, _casadi_shape(port)[1])
    return row, column


def _casadi_operations() -> dict[Op, Callable[..., SX]]:
    """The meaning of operations in CasADi."""
    import casadi as ca

    return {
        Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b,
        Op.DIV: lambda a, b: a / b, Op.NEG: lambda a: -a, Op.FMA: lambda a, b, c: a * b + c,
        Op.SQRT: ca.sqrt, Op.SIN: ca.sin, Op.COS: ca.cos, Op.TAN: ca.tan, Op.ASIN: ca.asin,
        Op.ACOS: ca.acos, Op.ATAN2: ca.atan2, Op.EXP: ca.exp, Op.LOG: ca.log, Op.POW: ca.power,
        Op.TANH: ca.tanh, Op.ABS: ca.fabs, Op.SIGN: ca.sign, Op.MIN: ca.fmin, Op.MAX: ca.fmax,
        Op.FLOOR: ca.floor, Op.LT: lambda a, b: a < b, Op.LE: lambda a, b: a <= b,
        Op.EQ: lambda a, b: a == b, Op.NE: lambda a, b: a != b, Op.AND: ca.logic_and,
        Op.OR: ca.logic_or, Op.NOT: ca.logic_not, Op.SELECT: ca.if_else,
    }  # fmt: skip
