"""Runs llama.cpp's HTTP server, which xllamacpp has inside: `python llama_server.py MODEL.gguf PORT`."""

from __future__ import annotations

import sys
import threading

import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = int(sys.argv[2])
parameters.n_ctx = 256
parameters.n_parallel = 1
parameters.cpuparams.n_threads = 1
server = xllamacpp.Server(parameters)
threading.Event().wait()
