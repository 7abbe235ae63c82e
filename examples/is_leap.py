def is_leap(year):
    """Return whether a year is a leap year.

    >>> is_leap(2024)
    True
    >>> is_leap(1900)
    False
    >>> is_leap(2000)
    True
    """
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        return True
    else:
        return False
