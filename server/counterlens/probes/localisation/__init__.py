"""Fault localisation: which line of a function is wrong?"""
