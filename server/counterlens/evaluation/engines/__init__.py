"""What carries out the items of a plan."""
