"""The experiments, one file each."""
