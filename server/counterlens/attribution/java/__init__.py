"""Judging programs in Java: stand-ins for the program, machines for it and for its tests."""
