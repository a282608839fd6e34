"""The process that holds the local model: llama.cpp's own server, through xllamacpp.

Run as a program, ``python -P local_server.py '{"path": ..., ...}'``, by :mod:`pytest_benchkit.models.local`.
It imports nothing of this project. One JSON line on standard output tells the address; standard error is
llama.cpp's log. It ends when its standard input does, or when its parent is gone.
"""

from __future__ import annotations

import faulthandler
import json
import os
import select
import sys
from typing import Any, TextIO

START_TIMEOUT_S = 60.0
PARENT_CHECK_S = 2.0


def main(config: dict[str, Any]) -> int:
    """Serves until told to stop. 0: told to; 1: llama.cpp could not start; 3: xllamacpp is missing."""
    parent = os.getppid()
    told = _own_output()
    # A timer of the interpreter, not of Python code: it also ends a start that never comes back.
    faulthandler.dump_traceback_later(START_TIMEOUT_S, exit=True)
    try:
        import xllamacpp
    except ImportError as error:
        sys.stderr.write(f"xllamacpp cannot be imported: {error}\n")
        return 3
    try:
        server = xllamacpp.Server(_parameters(xllamacpp.CommonParams(), config))
    except RuntimeError as error:
        sys.stderr.write(f"start failed: {error}\n")
        return 1
    faulthandler.cancel_dump_traceback_later()
    told.write(json.dumps({"address": server.listening_address, "pid": os.getpid()}) + "\n")
    told.flush()
    while os.getppid() == parent:
        ready, _, _ = select.select([0], [], [], PARENT_CHECK_S)
        if ready and not os.read(0, 4096):
            break
    return 0


def _own_output() -> TextIO:
    """Standard output for ourselves; whatever llama.cpp prints there goes to standard error."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return told


def _parameters(params: Any, config: dict[str, Any]) -> Any:
    params.model.path = config["path"]
    params.model_alias = {config["alias"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = config["slots"]
    # llama.cpp divides its window over the slots.
    params.n_ctx = config["context"] * config["slots"]
    params.cpuparams.n_threads = config["threads"]
    params.cpuparams_batch.n_threads = config["threads"]
    params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = True
    params.ui = False
    # A prompt that meets cached states is summed in another order: the reply could depend on its neighbours.
    params.cache_prompt = False
    return params


if __name__ == "__main__":
    code = main(json.loads(sys.argv[1]))
    sys.stderr.flush()
    # llama.cpp's threads are still in their loops; taking the interpreter down around them can hang.
    os._exit(code)
