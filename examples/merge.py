def merge(left, right):
    """Merge two sorted lists.

    >>> merge([1, 3], [2, 4])
    [1, 2, 3, 4]
    """
    if not left:
        return right
    if not right:
        return left
    if left[0] < right[0]:
        return [left[0]] + merge(left[1:], right)
    else:
        return [right[0]] + merge(left, right[1:])
