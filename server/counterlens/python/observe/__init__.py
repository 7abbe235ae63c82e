"""One call of a program, run in the sandbox under an observer that reports its observations.

`run` is the host's side. `kit`, `loops`, `outputs` and `trace` are copied into the sandbox, run in the user's
interpreter, and import nothing from Counterlens.
"""
