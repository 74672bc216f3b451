"""A process that tries cases, one after the other, within limits of time and memory.

Verdicts: `clean`: refused in one line, or accepted with finite numbers; `traceback`: any other
exception; `hang`: more than `SECONDS` of processor time; `memory`: more than `BYTES`; `silent`:
accepted though the mutation made it invalid for certain, or with NaN or infinite results.
"""

from __future__ import annotations

import json
import random
import resource
import signal
import sys
import traceback
import warnings

import numpy as np

from linkwright.errors import LinkwrightError

from .mutations import mutate
from .targets import MAY_BE_CERTAIN, TARGETS

SECONDS = 20.0
BYTES = 4 * 2**30


def case_of(kind: str, seed: int) -> tuple[bytes, bool]:
    """The mutated file, and whether it is invalid for certain; a seed gives the same one always."""
    source = random.Random(f"{kind} {seed}")
    data, invalid = mutate(source.choice(TARGETS[kind][0]()), source)
    return data, invalid and kind in MAY_BE_CERTAIN


def verdict_of(kind: str, data: bytes, invalid: bool) -> tuple[str, str]:
    try:
        found = TARGETS[kind][1](data)
    except LinkwrightError as error:
        said = str(error)
        good = bool(said.strip()) and len(said) < 5000
        return ("clean", "") if good else ("traceback", f"a message of {len(said)} characters")
    except MemoryError:
        return "memory", traceback.format_exc()[-1500:]
    except Exception:
        return "traceback", traceback.format_exc()[-1500:]
    if invalid:
        return "silent", "a number became NaN or infinite, and the file was accepted"
    if not all(np.isfinite(np.asarray(x, dtype=float)).all() for x in found):
        return "silent", "results are not finite"
    return "clean", ""


def main() -> None:
    """Reads [kind, seed] by line, answers [kind, seed, verdict, what]."""
    warnings.simplefilter("ignore")
    for _, (examples, _) in TARGETS.items():
        examples()  # before memory is limited: they compile
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        kind, seed = json.loads(line)
        data, invalid = case_of(kind, seed)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # its signal ends this process
        verdict, what = verdict_of(kind, data, invalid)
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps([kind, seed, verdict, what]), file=answers, flush=True)


if __name__ == "__main__":
    main()
