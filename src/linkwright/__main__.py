"""`python -m linkwright` is the command `linkwright`."""

from .cli import main

main()
