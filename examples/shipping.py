def shipping(total):
    """Return the shipping cost: free from 50 on, otherwise 5.

    >>> shipping(80)
    0
    >>> shipping(20)
    5
    """
    if total >= 50:
        return 0
    else:
        return 5
