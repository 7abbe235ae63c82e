def fibonacci(n):
    """Return the n-th Fibonacci number.

    >>> fibonacci(10)
    55
    >>> fibonacci(1)
    1
    """
    if n < 2:
        return n
    else:
        return fibonacci(n - 1) + fibonacci(n - 2)
