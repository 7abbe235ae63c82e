"""Local models through llama.cpp, which runs in a child process.

The parent (`model.py`, `process.py`) never imports llama_cpp; the child (`worker.py`) is the only place
that does, so that a native crash or an out-of-memory kill ends one request and nothing else.
"""
