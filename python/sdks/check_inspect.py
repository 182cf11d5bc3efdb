"""inspect-ai, unmodified, against a running server: base URL, key, a base model and a trained model are arguments.

Evaluates both under every vendor whose API the server speaks, in the form of the name that the vendor takes. Prints "ok" at the end.
"""

import os
import sys
import tempfile

base_url, api_key, *models = sys.argv[1:]
os.environ.update(
    OWN_BASE_URL=base_url,
    OWN_API_KEY=api_key,
    VLLM_BASE_URL=base_url,
    VLLM_API_KEY=api_key,
    OPENAI_BASE_URL=base_url,
    OPENAI_API_KEY=api_key,
    ANTHROPIC_BASE_URL=base_url.removesuffix("/v1"),
    ANTHROPIC_API_KEY=api_key,
    INSPECT_LOG_DIR=tempfile.mkdtemp(),
    INSPECT_DISPLAY="none",
)

from inspect_ai import Task, eval  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.scorer import includes  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

task = Task(dataset=[Sample(input="What is 2 + 3?", target="5")], solver=generate(), scorer=includes())


def answers(model: str) -> bool:
    """Anthropic's vendor does not send the temperature, so that its answers differ."""
    (log,) = eval(task, model=model, max_tokens=12, max_retries=0, temperature=0)
    if log.status != "success":
        return False
    return model.startswith("anthropic/") or log.results.scores[0].metrics["accuracy"].value == 1


for name in models:
    dashed = name.replace("/", "--")
    at = name.replace(":step", "@")  # vLLM's vendor takes what follows a colon for an adapter that it loads itself
    for model in [f"openai-api/own/{name}", f"vllm/{at}", f"openai/{name}", f"openai-api/own/{dashed}", f"anthropic/{dashed}"]:
        assert answers(model), model
    assert not answers(f"anthropic/{name}"), "Anthropic's vendor takes a slash now: say so in the guide."
print("ok")
