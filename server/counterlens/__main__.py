"""`python -m counterlens` runs the command line."""

from counterlens.cli import main

main()
