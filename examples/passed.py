def passed(points):
    """Return 'pass' for 50 points or more, otherwise 'fail'.

    >>> passed(50)
    'pass'
    >>> passed(49)
    'fail'
    """
    if points >= 50:
        return "pass"
    else:
        return "fail"
