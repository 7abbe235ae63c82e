"""Code that runs in the sandbox beside untrusted programs, in the user's interpreter (Python 3.8+).

It is copied there as a separate package and imports nothing from Counterlens. `runner` runs tests, `recorder`
makes calls, and `plain` encodes values for both.
"""
