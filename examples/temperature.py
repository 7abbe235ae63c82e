def temperature(celsius):
    """Say whether water freezes at a temperature in degrees Celsius.

    >>> temperature(-5)
    'ice'
    >>> temperature(20)
    'water'
    """
    if celsius < 0:
        return "ice"
    else:
        return "water"
