"""Runs llama.cpp's tests of its server against another server: `-p llama_cpp_suite`. They support a running server
(`DEBUG_EXTERNAL`, `PORT`); this adds keys, which llama.cpp's server does not require, and handles paths without /v1."""

import os
import sys
from types import ModuleType

import served
from served import URL, pytest_configure

__all__ = ["pytest_configure"]

os.environ["DEBUG_EXTERNAL"] = "1"
os.environ["PORT"] = URL.rsplit(":", 1)[1]
os.environ.pop("PYTEST_XDIST_WORKER", None)
sys.modules["wget"] = ModuleType("wget")  # would download models
SHORT_PATHS = ("/chat/completions", "/completions", "/embeddings", "/models", "/responses")
served.paths.update({path: f"/v1{path}" for path in SHORT_PATHS})
served.own_names.update(
    ("gpt-3.5-turbo", "gpt-3.5-turbo-instruct", "gpt-4.1", "text-embedding-3-small", "test", "codellama70b")
)
served.own_keys.add("Bearer sk-this-is-the-secret-key")
served.install()
