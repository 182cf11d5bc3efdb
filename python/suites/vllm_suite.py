"""Runs vLLM's tests of its HTTP endpoints against another server: `-p vllm_suite`. Imports nothing of vLLM: what the tests
import from it is replaced here if a name or a tokenizer suffices; a test that calls vLLM's own code is skipped with that
reason."""

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import anthropic
import openai
import pytest
import served
from served import KEY, MODEL_DIRECTORY, URL


def pytest_configure(config: pytest.Config) -> None:
    served.pytest_configure(config)
    config.option.models = ["hermes"]  # one of the models that tool_use would start one by one


class RemoteOpenAIServer:
    """Replaces the class that starts vLLM."""

    DUMMY_API_KEY = KEY

    def __init__(self, model: str, vllm_serve_args: Sequence[str] = (), **_: Any) -> None:
        args = list(vllm_serve_args)
        served.own_names.add(model)
        for flag, name in pairwise(args):
            if flag in ("--served-model-name", "--lora-modules"):
                served.own_names.add(name.split("=")[0])
        self.url_root = URL
        self.host, port = URL.removeprefix("http://").split(":")
        self.port = int(port)

    def __enter__(self) -> "RemoteOpenAIServer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    def url_for(self, *parts: str) -> str:
        return "/".join((URL, *(part.strip("/") for part in parts)))

    def get_client(self, **options: Any) -> openai.OpenAI:
        return openai.OpenAI(**{"base_url": f"{URL}/v1", "api_key": KEY, "max_retries": 0, **options})

    def get_async_client(self, **options: Any) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(**{"base_url": f"{URL}/v1", "api_key": KEY, "max_retries": 0, **options})

    def get_async_client_anthropic(self, **options: Any) -> anthropic.AsyncAnthropic:
        return anthropic.AsyncAnthropic(**{"base_url": URL, "api_key": KEY, "max_retries": 0, **options})


@cache
def get_tokenizer(*_: Any, **__: Any) -> Any:
    """Otherwise Transformers would mistake the placeholder for PyTorch."""
    torch = sys.modules.pop("torch", None)
    sys.meta_path.remove(PLACEHOLDERS)
    try:
        from transformers import AutoTokenizer
    finally:
        sys.meta_path.insert(0, PLACEHOLDERS)
        if torch is not None:
            sys.modules["torch"] = torch
    return AutoTokenizer.from_pretrained(MODEL_DIRECTORY)


class ModelConfig:
    def __init__(self, **_: Any) -> None: ...

    def get_vocab_size(self) -> int:
        return len(get_tokenizer())


class Anything:
    """A placeholder for a platform or a hub: every method returns False."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: False


class _Names(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return placeholder(name)


def placeholder(name: str) -> type:
    """A placeholder that may be named, compared and inherited from. Calling it requires vLLM itself."""

    def new(cls: type, *_: Any, **__: Any) -> Any:
        if cls.__dict__.get("is_placeholder"):
            pytest.skip(served.IN_PROCESS, allow_module_level=True)
        return Exception.__new__(cls)

    return _Names(name, (Exception,), {"__new__": new, "is_placeholder": True})


MADE_HERE: dict[str, dict[str, Any]] = {
    "vllm.tokenizers": {"get_tokenizer": get_tokenizer},
    "vllm.config": {"ModelConfig": ModelConfig},
    "vllm.platforms": {"current_platform": Anything()},
    "vllm.transformers_utils.repo_utils": {"hf_api": Anything},
}


class Placeholder(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return MADE_HERE.get(self.__name__, {}).get(name) or placeholder(name)


class Placeholders(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        if name.split(".")[0] not in ("vllm", "torch"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None: ...


PLACEHOLDERS = Placeholders()


def _own_utils() -> ModuleType:
    """Replaces vLLM's `tests.utils`, which starts servers."""
    module = Placeholder("tests.utils")
    module.__dict__.update(
        RemoteOpenAIServer=RemoteOpenAIServer,
        VLLM_PATH=Path(),
        ROCM_EXTRA_ARGS=[],
        ROCM_ENV_OVERRIDES={},
        multi_gpu_only=lambda **_: pytest.mark.skip(reason=served.IN_PROCESS),
        requires_fp8=lambda test: test,
    )
    return module


served.install()
sys.meta_path.insert(0, PLACEHOLDERS)
sys.modules["tests.utils"] = _own_utils()
