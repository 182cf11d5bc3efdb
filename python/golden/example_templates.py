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
    "openchat": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'assistant' %}{{ 'GPT4 Correct Assistant:' }}{% generation %}{{ ' ' + m['content'] + '<|end_of_turn|>' }}{% endgeneration %}{% else %}{{ 'GPT4 Correct ' + m['role'] | title + ': ' + m['content'] + '<|end_of_turn|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'GPT4 Correct Assistant:' }}{% endif %}",
    "phi4": "{% for m in messages %}{% if m['role'] == 'assistant' %}{{ '<|im_start|>assistant<|im_sep|>' }}{% generation %}{{ m['content'] + '<|im_end|>' }}{% endgeneration %}{% else %}{{ '<|im_start|>' + m['role'] + '<|im_sep|>' + m['content'] + '<|im_end|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant<|im_sep|>' }}{% endif %}",
    "granite3": "{%- if messages[0]['role'] != 'system' %}{{- '<|start_of_role|>system<|end_of_role|>You are Granite.<|end_of_text|>\n' }}{%- endif %}{%- for m in messages %}{%- if m['role'] == 'assistant' %}{{- '<|start_of_role|>assistant<|end_of_role|>' }}{% generation %}{{- m['content'] + '<|end_of_text|>' }}{% endgeneration %}{{- '\n' }}{%- else %}{{- '<|start_of_role|>' + m['role'] + '<|end_of_role|>' + m['content'] + '<|end_of_text|>\n' }}{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<|start_of_role|>assistant<|end_of_role|>' }}{%- endif %}",
    "tulu": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'assistant' %}{{ '<|assistant|>\n' }}{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}{% if not loop.last %}{{ '\n' }}{% endif %}{% else %}{{ '<|' + m['role'] + '|>\n' + m['content'] + '\n' }}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}{% endfor %}",
    "deepseek-chat": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}{{ 'User: ' + m['content'] + '\n\n' }}{% elif m['role'] == 'assistant' %}{{ 'Assistant:' }}{% generation %}{{ ' ' + m['content'] + eos_token }}{% endgeneration %}{% else %}{{ m['content'] + '\n\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}",
    "solar": "{% for m in messages %}{% if m['role'] == 'user' %}{{ '### User:\n' + m['content'] + '\n\n' }}{% elif m['role'] == 'system' %}{{ '### System:\n' + m['content'] + '\n\n' }}{% else %}{{ '### Assistant:\n' }}{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}{{ '\n\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '### Assistant:\n' }}{% endif %}",
    "exaone": "{% for m in messages %}{% if loop.first and m['role'] != 'system' %}{{ '[|system|][|endofturn|]\n' }}{% endif %}{{ '[|' + m['role'] + '|]' }}{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] + '[|endofturn|]' }}{% endgeneration %}{{ '\n' }}{% elif m['role'] == 'user' %}{{ m['content'] + '\n' }}{% else %}{{ m['content'] + '[|endofturn|]\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '[|assistant|]' }}{% endif %}",
    "falcon": "{% for m in messages %}{% if not loop.first %}{{ '\n' }}{% endif %}{% if m['role'] == 'assistant' %}{{ 'Falcon:' }}{% generation %}{{ ' ' + m['content'] | trim + eos_token }}{% endgeneration %}{% else %}{{ m['role'] | capitalize + ': ' + m['content'] | trim }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '\nFalcon:' }}{% endif %}",
    "mistral-v7": "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'system' %}{{ '[SYSTEM_PROMPT]' + m['content'] + '[/SYSTEM_PROMPT]' }}{% elif m['role'] == 'user' %}{{ '[INST]' + m['content'] + '[/INST]' }}{% else %}{% generation %}{{ m['content'] + eos_token }}{% endgeneration %}{% endif %}{% endfor %}",
    "minicpm": "{% for m in messages %}{% if m['role'] == 'user' %}{{ '<用户>' + m['content'].strip() + '<AI>' }}{% elif m['role'] == 'assistant' %}{% generation %}{{ m['content'].strip() + eos_token }}{% endgeneration %}{% else %}{{ m['content'] }}{% endif %}{% endfor %}",
    "smollm3": "{% for m in messages %}{% if m['role'] == 'assistant' %}{% generation %}{{ '<|im_start|>assistant\n<think>\n\n</think>\n' + m['content'].lstrip('\n') + '<|im_end|>\n' }}{% endgeneration %}{% else %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>\n\n</think>\n' }}{% endif %}",
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
    "openchat": {"stops": ["<|end_of_turn|>"], "bos": "<s>"},
    "phi4": {"stops": ["<|im_end|>", "<|endoftext|>"]},
    "granite3": {"stops": ["<|end_of_text|>"]},
    "tulu": {"stops": ["<|endoftext|>"], "bos": "<s>"},
    "deepseek-chat": {"stops": ["<｜end▁of▁sentence｜>"], "bos": "<｜begin▁of▁sentence｜>"},
    "solar": {"stops": ["</s>"]},
    "exaone": {"stops": ["[|endofturn|]"], "added": ["[|system|]", "[|user|]", "[|assistant|]"]},
    "falcon": {"stops": ["<|endoftext|>"]},
    "mistral-v7": {"stops": ["</s>"], "bos": "<s>", "added": ["[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"]},
    "minicpm": {"stops": ["</s>"]},
    "cohere2": {"stops": ["<|END_OF_TURN_TOKEN|>"], "bos": "<BOS_TOKEN>"},
    "nemotron_3_super": {"stops": ["<|im_end|>"]},
    "nemotron_3_5_lightning": {"stops": ["<|im_end|>"]},
    "qwen3_5_think": {"stops": CHATML_STOPS},
    "qwen3_5_nothink": {"stops": CHATML_STOPS},
    "qwen3_6": {"stops": CHATML_STOPS},
    "qwen3_8": {"stops": CHATML_STOPS},
    "chatml-marked": {"stops": CHATML_STOPS},
    "qwen3-marked": {"stops": CHATML_STOPS},
    "glm4moe-marked": {"stops": ["<|endoftext|>", "<|user|>", "<|observation|>"]},
    "smollm3-marked": {"stops": ["<|im_end|>"]},
}

TAGS = ("{% generation %}", "{% endgeneration %}")


def sources(name: str) -> tuple[str, str | None]:
    """The template, and the one with {% generation %}; None if there is none. With `-marked`, the server gets that one, too, and trains
    all that its blocks hold."""
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
