"""Small checks."""


def is_even(n):
    """Whether a number is even."""
    return n % 2 != 0
