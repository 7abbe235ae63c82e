def group_by_length(words):
    """Group words by their length.

    >>> group_by_length(["a", "bb", "c"])
    {1: ['a', 'c'], 2: ['bb']}
    """
    groups = {}
    for word in words:
        if len(word) in groups:
            groups[len(word)].append(word)
        else:
            groups[len(word)] = [word]
    return groups
