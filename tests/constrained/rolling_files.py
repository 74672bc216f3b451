"""Mechanism files of the small examples; words in capitals are filled in."""

SLEIGH = """
name = "sleigh"
gravity = [0, 0, "-g"]
[parameters]
m = 2.0
I = 0.3
a = 0.4
alpha = "20 deg"
g = 9.81
[bodies.sleigh]
mass = "m"
center = ["a", 0, 0]
inertia = { zz = "I" }
[joints.sleigh]
type = "planar"
child = "sleigh"
origin = { rpy = ["alpha", 0, 0] }
[constraints.blade]
type = "knife-edge"
on = "sleigh"
"""

TABLE = """
name = "sleigh-on-table"
gravity = [0, 0, -9.81]
[bodies.sleigh]
mass = 2.0
center = [0.4, 0.1, 0]
inertia = { zz = 0.3 }
[bodies.table]
mass = 3.0
center = [0.1, 0.2, 0]
inertia = { zz = 0.8 }
[joints.x]
type = "prismatic"
child = "rail"
axis = [1, 0, 0]
[bodies.rail]
[joints.y]
type = "prismatic"
parent = "rail"
child = "slide"
axis = [0, 1, 0]
[bodies.slide]
[joints.theta]
type = "revolute"
parent = "slide"
child = "sleigh"
[joints.turn]
type = "revolute"
child = "table"
origin = [0.3, -0.2, 0]
[frames.tip]
body = "sleigh"
origin = [-0.2, 0.1, 0]
[constraints.blade]
type = "knife-edge"
on = "tip"
normal = [0.3, 1, 0]
relative_to = "table"
"""

DRIVE = """
[constraints.drive]
type = "drive"
on = "turn"
position = "t^2"
"""

GEARS = """
name = "gears"
gravity = [0, 0, 0]
[parameters]
r = 0.2
R = 0.5
Ic = 0.3
m = 1.5
J = 0.04
[bodies.carrier]
inertia = { zz = "Ic" }
[bodies.planet]
mass = "m"
inertia = { zz = "J" }
[joints.carrier]
type = "revolute"
child = "carrier"
[joints.planet]
type = "revolute"
parent = "carrier"
child = "planet"
origin = [ARM, 0, 0]
[constraints.teeth]
type = "rolling"
wheel = "planet"
radius = "r"
other_radius = "OTHER"
"""

LOOSE = """
name = "loose"
gravity = [0, "-g", 0]
[parameters]
r = 0.2
R = 0.5
m = 1.5
J = 0.04
g = 9.81
[bodies.disk]
mass = "m"
inertia = { zz = "J" }
[joints.disk]
type = "planar"
child = "disk"
[constraints.contact]
type = "rolling"
wheel = "disk"
radius = "r"
other_radius = "OTHER"
[assembly]
"disk.y" = "START"
"""
