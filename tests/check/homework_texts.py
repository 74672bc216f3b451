"""Texts of a class, right and wrong, and the marks that a folder of them gets."""

from __future__ import annotations

from pathlib import Path

import linkwright as lw
from linkwright.checking import Homework

SOLUTION = """
d11 = m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2
d12 = m2*(lc2^2 + l1*lc2*cos(q2)) + I2
d22 = m2*lc2^2 + I2
phi1 = (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)
phi2 = m2*lc2*g*cos(q1 + q2)
tau1 = d11*ddq1 + d12*ddq2 - m2*l1*lc2*sin(q2)*(2*dq1*dq2 + dq2^2) + phi1
tau2 = d12*ddq1 + d22*ddq2 + m2*l1*lc2*sin(q2)*dq1^2 + phi2
"""
WRITTEN_OUT = """
tau1 = (m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2)*ddq1
  + (m2*(lc2^2 + l1*lc2*cos(q2)) + I2)*ddq2 - m2*l1*lc2*sin(q2)*(2*dq1*dq2 + dq2^2)
  + (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)
tau2 = (m2*(lc2^2 + l1*lc2*cos(q2)) + I2)*ddq1 + (m2*lc2^2 + I2)*ddq2
  + m2*l1*lc2*sin(q2)*dq1^2 + m2*lc2*g*cos(q1 + q2)
"""
LATEX = r"""\documentclass{article}
\begin{document}
With $m_1 = 1$ we find % no equation of the answer
\begin{align}
M_{12} &= m_2 (l_{c2}^2 + l_1 l_{c2} \sin q_2) + I_2 \\
M_{22} &= m_2 l_{c2}^2 + I_2
\end{align}
and \[ G_2 = m_2 l_{c2} g\cos(q_1 + q_2) \]
\end{document}
"""


def marks(
    tmp_path: Path, texts: dict[str, str | bytes], solution: str = "", arm: str = "elbow"
) -> Homework:
    folder = tmp_path / "texts"
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    if solution:
        (tmp_path / "solution.txt").write_text(solution, encoding="utf-8")
    asked = tmp_path / "solution.txt" if solution else None
    return lw.check_folder(lw.gallery(arm), folder, solution=asked)
