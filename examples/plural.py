def plural(count, word):
    """Return the word with an s unless the count is one.

    >>> plural(1, "cat")
    'cat'
    >>> plural(3, "cat")
    'cats'
    """
    if count == 1:
        return word
    else:
        return word + "s"
