"""The languages that Counterlens knows: what each one is, said in one place.

A language is one `Language` (`language.py`): its files, its grammar, and where each layer finds its part of
it. `registry.py` has our own and those of plug-ins; `part.py` loads a part when a layer first needs it.
"""
