def initial(name):
    """Return the first letter of a name in upper case, or '?' if it is empty.

    >>> initial("ada")
    'A'
    >>> initial("")
    '?'
    """
    if name == "":
        return "?"
    else:
        return name[0].upper()
