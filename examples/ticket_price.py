def ticket_price(age):
    """Return the price of a ticket: 5 for children under 12, 10 for others.

    >>> ticket_price(8)
    5
    >>> ticket_price(30)
    10
    """
    if age < 12:
        return 5
    else:
        return 10
