def reverse(text):
    """Return the text backwards, recursively.

    >>> reverse("abc")
    'cba'
    >>> reverse("")
    ''
    """
    if text == "":
        return text
    else:
        return reverse(text[1:]) + text[0]
