"""llama.cpp's HTTP server, which xllamacpp contains.

`python llama_server.py MODEL.gguf [--embeddings] [--context=TOKENS] PORT`
"""

from __future__ import annotations

import sys
import threading

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[-1])
wanted = [one.partition("=")[2] for one in sys.argv if one.startswith("--context=")]
parameters.n_ctx = int(wanted[0]) if wanted else 256
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
if "--embeddings" in sys.argv:
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
server = xllamacpp.Server(parameters)
threading.Event().wait()
