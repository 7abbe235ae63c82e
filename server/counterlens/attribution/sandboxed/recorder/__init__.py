"""Recorder of calls: runs inside the sandbox and reports the result of each call of a program.

Imports nothing from Counterlens, keeps to Python 3.8, and starts fast, because it runs in the user's
interpreter. It reads `task.json` from its working directory and writes lines to the result pipe. Original and
candidate run in processes of their own, and nothing here decides anything: the parent compares the results,
so a candidate that rewrites this code can only change its own results, not the truth.
"""
