"""Engines, which process the items of a plan."""
