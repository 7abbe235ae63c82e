def longest_run(items):
    """Return the length of the longest run of equal neighbours.

    >>> longest_run([1, 1, 2, 2, 2, 3])
    3
    >>> longest_run("abc")
    1
    >>> longest_run([])
    0
    """
    best = current = 0
    previous = None
    for item in items:
        if item == previous:
            current += 1
        else:
            current = 1
        previous = item
        best = max(best, current)
    return best
