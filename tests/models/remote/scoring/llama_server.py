"""llama.cpp's HTTP server, which xllamacpp contains.

`python llama_server.py MODEL.gguf [--embeddings] [--context=TOKENS] [--alias=NAME] [--key=KEY] PORT`
"""

from __future__ import annotations

import sys
import threading

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[-1])
options = dict(one.split("=", 1) for one in sys.argv[2:-1] if "=" in one)
parameters.n_ctx = int(options.get("--context", 256))
if "--alias" in options:
    parameters.model_alias = {options["--alias"]}
if "--key" in options:
    parameters.api_keys = [options["--key"]]
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
if "--embeddings" in sys.argv:
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(parameters)
threading.Event().wait()
