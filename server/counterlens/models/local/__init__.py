"""The common parts of local back ends: the child process, its messages, scores, completions.

Nothing here imports an engine's library; each back end's worker does, in its child process.
"""
