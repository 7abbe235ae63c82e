"""Local models through llama.cpp, which runs in a child process.

The parent (`model.py`, `process.py`) never imports llama_cpp; only the child (`worker.py`) does, so that a
native crash or an out-of-memory kill ends one request and nothing else.
"""
