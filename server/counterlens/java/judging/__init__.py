"""Judging programs in Java: stand-ins for the program, JVMs for it and for its tests."""
