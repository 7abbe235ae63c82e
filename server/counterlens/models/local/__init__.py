"""What the back ends that run on this machine share: the child process, its messages, scores, completions.

Nothing here imports an engine's library; each back end's worker does, in its child process.
"""
