"""Where the error of 8-bit products comes from: python bench/rounding.py MODEL.gguf, with the environment of scripts/python-env.sh.

Rounds the weights and activations of a Llama in PyTorch as `int8` and `w8a8` do, or other formats would, and prints how far the next
token's distribution is from float32's: the second table of docs/decisions/0039-w8a8-precision.md. It simulates the rounding, not the
kernels: speed is not its subject.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_grad_enabled(False)
path = Path(sys.argv[1])
root = Path(__file__).parent.parent
tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()


def chat(prompt):
    messages = [{"role": "user", "content": prompt}]
    return tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt", return_dict=True)["input_ids"]


def written(file, count):
    return tokenizer((root / file).read_text(), return_tensors="pt")["input_ids"][:, :count]


texts = [written("README.md", 192), *map(chat, json.loads((root / "bench/prompts.json").read_text())[:8])]
linears = {name: module for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
exact = {name: module.weight.clone() for name, module in linears.items()}
SIBLINGS = [("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"), ("down_proj",)]
HEAD, O, (QKV, GATE_UP, DOWN) = ("lm_head",), ("o_proj",), SIBLINGS


def kind(name):
    return name.split(".")[-1]


def rounded(x, group=None):
    """With one scale per row, or per `group` values of it."""
    if group is not None:
        return rounded(x.reshape(*x.shape[:-1], -1, group)).reshape(x.shape)
    scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-30) / 127
    return torch.round(x / scale) * scale


def logprobs():
    return [torch.log_softmax(model(text).logits[0, :-1].double(), -1) for text in texts]


def with_rounding(of_weight, of_input):
    """`of_weight(name, weight)` and `of_input(name, x)` replace what each linear layer multiplies."""
    for module in linears.values():
        module._forward_pre_hooks.clear()
    for name, module in linears.items():
        module.weight = torch.nn.Parameter(of_weight(name, exact[name]), requires_grad=False)
        module.register_forward_pre_hook(lambda _, inputs, name=name: (of_input(name, inputs[0]),))


def measure(what, of_weight, of_input):
    with_rounding(of_weight, of_input)
    divergences, changes = [], []
    for text, p, q in zip(texts, reference, logprobs()):
        divergences.append((p.exp() * (p - q)).sum(-1))
        changes.append((q - p).gather(-1, text[0, 1:, None]).abs()[:, 0])
    print(f"| {what} | {torch.cat(divergences).mean():.4f} | {torch.cat(changes).mean():.3f} |", flush=True)


def same(_, x):
    return x


def largest_inputs(text):
    """Of each channel, by layer."""
    found = {}

    def note(name, x):
        found[name] = x.abs().reshape(-1, x.shape[-1]).amax(0)
        return x

    with_rounding(same, note)
    model(text)
    return found


def smoothing(alpha):
    """SmoothQuant's factors (arXiv:2211.10438 eq. 4): inputs are divided by them, columns of weights multiplied."""
    factors = {}
    for name in linears:
        siblings = next((each for each in SIBLINGS if kind(name) in each), None)
        if siblings is None:
            continue
        weights = torch.stack([exact[name.removesuffix(kind(name)) + each].abs().amax(0) for each in siblings]).amax(0)
        factor = largest[name].clamp(min=1e-5) ** alpha / weights.clamp(min=1e-5) ** (1 - alpha)
        factors[name] = factor / factor.log().mean().exp()
    return factors


def w8a8(blocks=(), factors={}, group=None):
    """`blocks`: kinds of layers that are rounded as in int8."""

    def of_weight(name, weight):
        if kind(name) in blocks:
            return rounded(weight, 32)
        factor = factors.get(name, torch.ones(1))
        return rounded(weight * factor) / factor

    def of_input(name, x):
        if kind(name) in blocks:
            return rounded(x, 32)
        factor = factors.get(name, torch.ones(1))
        return rounded(x / factor, group) * factor

    return of_weight, of_input


def fixed_outliers(count):
    places = {name: largest[name].topk(count).indices for name in linears}

    def split(name, x):
        result = rounded(x.index_fill(-1, places[name], 0))
        result[..., places[name]] = x[..., places[name]]
        return result

    return split, split


def own_outliers(count):
    def of_input(_, x):
        places = x.abs().topk(count, -1).indices
        return rounded(x.scatter(-1, places, 0.0)).scatter(-1, places, x.gather(-1, places))

    return lambda _, weight: rounded(weight), of_input


with_rounding(same, same)
reference = logprobs()
largest = largest_inputs(written("CHANGELOG.md", 256))
print(f"{sum(len(each) for each in reference)} tokens\n| rounded | divergence | change |\n| --- | ---: | ---: |")
measure("`int8`", lambda _, weight: rounded(weight, 32), lambda _, x: rounded(x, 32))
measure("`w8a8`", *w8a8())
measure("only the weights, a scale per output", lambda _, weight: rounded(weight), same)
measure("only the activations, a scale per token", same, lambda _, x: rounded(x))
for what, kinds in [("`qkv`", QKV), ("`down`", DOWN), ("`gate_up`", GATE_UP), ("the head", HEAD), ("`o`", O)]:
    measure(f"only the activations into {what}", same, lambda name, x: rounded(x) if kind(name) in kinds else x)
measure("`w8a8`, `down` in blocks", *w8a8(DOWN))
measure("`w8a8`, `down` and `o` in blocks", *w8a8(DOWN + O))
for group in (192, 64):
    measure(f"`w8a8`, activations in groups of {group}", *w8a8(group=group))
for alpha in (0.5, 0.75):
    measure(f"`w8a8`, SmoothQuant with α {alpha}", *w8a8(factors=smoothing(alpha)))
    measure(f"the same, `down` in blocks", *w8a8(DOWN, smoothing(alpha)))
for count in (4, 16):
    measure(f"`w8a8`, {count} channels of each product in float32, chosen on other text", *fixed_outliers(count))
    measure(f"`w8a8`, the {count} largest activations of each token in float32", *own_outliers(count))
