def longest(words):
    """Return the longest word, the first one of equally long ones.

    >>> longest(["a", "ccc", "bb"])
    'ccc'
    >>> longest([])
    ''
    """
    best = ""
    for word in words:
        if len(word) > len(best):
            best = word
        else:
            pass
    return best
