"""The commands, one file each. Importing this package registers them."""

# isort: off
# the order in which `linkwright --help` lists the commands
from . import gallery_command, info_command, draw_command, export_command, schema_command  # noqa: F401
from . import derive_command, base_command, verify_command, check_command, compare_command  # noqa: F401
from . import evaluate_command, assemble_command  # noqa: F401
from . import simulate_command, kinematics_command, inverse_command, linkage_command  # noqa: F401
from . import cam_command  # noqa: F401
from . import equilibrium_command, steady_command, periodic_command  # noqa: F401
from . import linearize_command, plan_command, study_command  # noqa: F401
from . import report_command, studio_command  # noqa: F401
