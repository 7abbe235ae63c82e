"""The dependences of C's functions."""
