"""The languages that Counterlens knows, each described in one place.

A language is one `Language` (`language.py`): its files, its grammar, and the place of each layer's part of
it. `registry.py` lists the built-in ones and those of plug-ins; `part.py` loads a part when it is needed.
"""
