"""Counterlens: does the model understand this code, or does it only recognise it?"""

__version__ = "0.1.0"
