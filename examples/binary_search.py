def binary_search(items, wanted):
    """Return the index of the wanted item of a sorted list, or -1."""
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        elif items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1
