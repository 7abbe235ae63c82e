"""Random use of the real server over stdio. At length: `python -m tests.fuzz --steps 10000 --seed 1`."""
