"""Recorder of calls: runs inside the sandbox and reports the result of each call of a program.

It imports nothing from Counterlens, keeps to Python 3.8, and starts fast, because it runs in the user's
interpreter. It reads `task.json` from its working directory and writes lines to the result pipe. Original and
candidate run in separate processes, and nothing is decided here: the parent compares the results, so a
candidate that rewrites this code can only change its own results, not those of the original.
"""
