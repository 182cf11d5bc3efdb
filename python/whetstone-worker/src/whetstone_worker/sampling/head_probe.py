"""Determines whether this vLLM samples with adapters of the output head. It refuses them for some model families, and another
version may load one but not compute with it. Hence a test: an adapter that moves every other logit must move a log-probability.
"""

import logging
from array import array
from pathlib import Path
from tempfile import TemporaryDirectory

from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.rank_one_adapter import write_rank_one_adapter
from whetstone_worker.sampling.vllm_client import VllmClient, VllmGoneError

log = logging.getLogger(__name__)

NAME = "whetstone-head-probe"
PROMPT = [0, 1, 2, 3]
MOVED = 1e-3
"""In nats. Rounding makes two results of the same weights differ; the probe moves every other logit by far more."""


async def takes_head_adapters(client: VllmClient, base_name: str, vocab_size: int, hidden_size: int) -> bool:
    """`base_name`: vLLM's name of the base model. Raises WorkerError if vLLM is gone."""
    with TemporaryDirectory(prefix="whetstone-head-") as directory:
        _write_probe(Path(directory), vocab_size, hidden_size)
        try:
            moved = await _moves(client, base_name, Path(directory))
        except VllmGoneError:
            raise
        except WorkerError as fault:
            log.info("Adapters of the output head are not supported by this vLLM: %s", fault)
            return False
    if not moved:
        log.warning("Adapters of the output head are not supported by this vLLM: it loads them but does not compute with them.")
    return moved


async def _moves(client: VllmClient, base_name: str, directory: Path) -> bool:
    await client.load_adapter(NAME, directory)
    try:
        return abs(await _logprob(client, NAME) - await _logprob(client, base_name)) > MOVED
    finally:
        await client.unload_adapter(NAME)


async def _logprob(client: VllmClient, model: str) -> float:
    """Returns the log-probability of the prompt's last token."""
    body = {"model": model, "prompt": PROMPT, "max_tokens": 1, "temperature": 0, "prompt_logprobs": 0}
    answer = await client.complete(body)
    return float(answer["choices"][0]["prompt_logprobs"][-1][str(PROMPT[-1])]["logprob"])


def _write_probe(directory: Path, vocab_size: int, hidden_size: int) -> None:
    """Moves every other logit by ten times a weighted sum of the state, in which every value has a weight."""
    a = array("f", (1 / (1 + index) for index in range(hidden_size)))
    b = array("f", (index % 2 for index in range(vocab_size)))
    write_rank_one_adapter(directory, "lm_head", a, b, alpha=10)
