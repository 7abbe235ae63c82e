def greet(name):
    """Greet someone, or the world if there is no name.

    >>> greet("Ada")
    'Hello, Ada!'
    >>> greet("")
    'Hello, world!'
    """
    if name:
        return f"Hello, {name}!"
    else:
        return "Hello, world!"
