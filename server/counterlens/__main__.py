"""`python -m counterlens` runs the command line."""

from counterlens.environment import leave_current_folder

leave_current_folder()

from counterlens.cli import main  # noqa: E402 - with a closed path

main()
