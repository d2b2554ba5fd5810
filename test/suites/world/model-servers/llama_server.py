"""Serves a model by the server of llama.cpp until it is ended.

Usage: llama_server.py <model.gguf> <port> <context tokens> <parsed | raw>
"""

import signal
import sys

import xllamacpp

model, port, context, form = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.port = int(port)
params.n_ctx = int(context)
params.n_parallel = 1
params.warmup = False
params.fit_params = False
params.cpuparams.n_threads = 1
# Without a parser the server passes on what the model wrote.
params.force_pure_content_parser = form == "raw"
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
signal.pause()
