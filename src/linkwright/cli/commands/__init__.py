"""The commands, one file each. Importing this package registers them."""

# isort: off
# the order in which `linkwright --help` lists the commands
from . import gallery, info, draw, export, schema  # noqa: F401
from . import derive, base, verify, check, compare  # noqa: F401
from . import evaluate, assemble  # noqa: F401
from . import simulate, kinematics, inverse, equilibrium, linearize, plan  # noqa: F401
from . import report  # noqa: F401
