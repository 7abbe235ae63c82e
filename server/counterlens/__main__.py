"""`python -m counterlens` is the command line."""

from counterlens.cli import main

main()
