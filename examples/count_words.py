def count_words(words):
    """Count how often each word occurs.

    >>> count_words(["a", "b", "a"])
    {'a': 2, 'b': 1}
    """
    counts = {}
    for word in words:
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts
