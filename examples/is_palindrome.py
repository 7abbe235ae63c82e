def is_palindrome(text):
    """Return whether a text reads the same backwards.

    >>> is_palindrome("level")
    True
    >>> is_palindrome("lever")
    False
    """
    if text == text[::-1]:
        return True
    else:
        return False
