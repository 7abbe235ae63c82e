def can_vote(age):
    """Return whether someone of this age may vote, which is from 18 on.

    >>> can_vote(18)
    True
    >>> can_vote(17)
    False
    """
    if age >= 18:
        return True
    else:
        return False
