"""Chat templates for make_examples.py. Ours are written with {% generation %} around what the model writes, which gives the reference; the
server gets them without. The others are those of model families, from TRL, which has a second version of each with {% generation %}."""

from importlib.resources import files

OURS = {
    "llama2": "{% for m in messages %}{% if m['role'] == 'user' %}{{ bos_token + '[INST] ' + m['content'] + ' [/INST]' }}{% elif m['role'] == 'assistant' %}{% generation %}{{ ' ' + m['content'] + ' ' + eos_token }}{% endgeneration %}{% else %}{{ raise_exception('No such role.') }}{% endif %}{% endfor %}",
    "mistral": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + ' [/INST]' }}{% elif m['role'] == 'assistant' %}{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}{% else %}{{ raise_exception('No such role.') }}{% endif %}{% endfor %}",
    "mistral-spaced": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}{{ '[INST] ' + m['content'] + '[/INST]' }}{% elif m['role'] == 'assistant' %}{% generation %}{{ ' ' + m['content'] | trim + eos_token }}{% endgeneration %}{% else %}{{ raise_exception('No such role.') }}{% endif %}{% endfor %}",
    "chatml": "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ '<|im_start|>assistant\\n' }}{% generation %}{{ m['content'] + '<|im_end|>' }}{% endgeneration %}{{ '\\n' }}{% else %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "chatml-broken-line": "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ '<|im_start|>assistant\\n' }}{% generation %}{{ m['content'] + '\\n<|im_end|>' }}{% endgeneration %}{{ '\\n' }}{% else %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '\\n<|im_end|>\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "zephyr": "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ '<|assistant|>\\n' }}{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}{{ '\\n' }}{% else %}{{ '<|' + m['role'] + '|>\\n' + m['content'] + eos_token + '\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}",
    "vicuna": "{% for m in messages %}{% if m['role'] == 'system' %}{{ m['content'] + ' ' }}{% elif m['role'] == 'user' %}{{ 'USER: ' + m['content'] + ' ' }}{% else %}{{ 'ASSISTANT:' }}{% generation %}{{ ' ' + m['content'] + eos_token }}{% endgeneration %}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}",
    "no-end": "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ 'Assistant: ' }}{% generation %}{{ m['content'] + '\\n\\n' }}{% endgeneration %}{% else %}{{ m['role'] | capitalize + ': ' + m['content'] + '\\n\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'Assistant: ' }}{% endif %}",
    "instructions": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'assistant' %}{{ '### Response:\\n' }}{% generation %}{{ m['content'] + '\\n' + eos_token }}{% endgeneration %}{{ '\\n' }}{% else %}{{ '### ' + m['role'] | title + ':\\n' + m['content'] + '\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '### Response:\\n' }}{% endif %}",
}
CHATML_STOPS = ["<|im_end|>", "<|endoftext|>"]
SPACED = {"rstrip": True}

# Template → tokens that end a generation, the tokenizer's eos_token first; its bos_token; options of its added tokens.
FAMILIES: dict[str, dict] = {
    "llama2": {"stops": ["</s>"], "bos": "<s>"},
    "mistral": {"stops": ["</s>"], "bos": "<s>"},
    "mistral-spaced": {"stops": ["</s>"], "bos": "<s>", "added": ["[INST]", "[/INST]"]},
    "chatml": {"stops": CHATML_STOPS},
    "chatml-broken-line": {"stops": ["<|im_end|>"]},
    "zephyr": {"stops": ["</s>"], "bos": "<s>"},
    "vicuna": {"stops": ["</s>"], "bos": "<s>"},
    "no-end": {"stops": ["</s>"]},
    "instructions": {"stops": ["</s>"], "bos": "<s>"},
    "llama3": {"stops": ["<|eot_id|>", "<|end_of_text|>"], "bos": "<|begin_of_text|>"},
    "llama3_1": {"stops": ["<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"], "bos": "<|begin_of_text|>"},
    "gemma": {"stops": ["<eos>", "<end_of_turn>"], "bos": "<bos>"},
    "gemma3": {"stops": ["<eos>", "<end_of_turn>"], "bos": "<bos>"},
    "phi3": {"stops": ["<|endoftext|>", "<|end|>"], "bos": "<s>", "options": SPACED},
    "phi3_5": {"stops": ["<|endoftext|>", "<|end|>"], "bos": "<s>", "options": SPACED},
    "qwen2_5": {"stops": CHATML_STOPS},
    "qwen3": {"stops": CHATML_STOPS},
    "qwen3_instruct_2507": {"stops": CHATML_STOPS},
    "cohere": {"stops": ["<|END_OF_TURN_TOKEN|>"], "bos": "<BOS_TOKEN>"},
    "deepseekv3": {"stops": ["<｜end▁of▁sentence｜>"], "bos": "<｜begin▁of▁sentence｜>"},
    "deepseek_r1_distill": {"stops": ["<｜end▁of▁sentence｜>"], "bos": "<｜begin▁of▁sentence｜>"},
    "glm4moe": {"stops": ["<|endoftext|>", "<|user|>", "<|observation|>"]},
    "gptoss": {"stops": ["<|return|>", "<|call|>", "<|endoftext|>"]},
    "lfm2": {"stops": ["<|im_end|>"], "bos": "<|startoftext|>"},
    "lfm2_v2": {"stops": ["<|im_end|>"], "bos": "<|startoftext|>"},
    "nemotron_3_nano": {"stops": ["<|im_end|>"]},
    "chatml-marked": {"stops": CHATML_STOPS},
    "qwen3-marked": {"stops": CHATML_STOPS},
    "glm4moe-marked": {"stops": ["<|endoftext|>", "<|user|>", "<|observation|>"]},
}

TAGS = ("{% generation %}", "{% endgeneration %}")


def sources(name: str) -> tuple[str, str | None]:
    """The template, and the one with {% generation %}; None if there is none. With `-marked`, the server gets that one, too."""
    if name.endswith("-marked"):
        marked = sources(name.removesuffix("-marked"))[1]
        return marked, marked
    if name in OURS:
        plain = OURS[name]
        for tag in TAGS:
            plain = plain.replace(tag, "")
        return plain, OURS[name]
    folder = files("trl") / "chat_templates"
    marked = folder / f"{name}_training.jinja"
    return (folder / f"{name}.jinja").read_text(), marked.read_text() if marked.is_file() else None
