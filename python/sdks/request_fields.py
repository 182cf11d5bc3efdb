"""Prints, as JSON, the fields of every generation request of the installed openai, anthropic and vllm packages, and of the objects within
that are read here. A package that is not installed is left out. test/service/clients/request-fields.json has the fields of the newest
versions."""

import dataclasses
import importlib
import importlib.metadata
import json
import types
import typing

OPENAI = {
    "chat": ("openai.types.chat.completion_create_params", "CompletionCreateParamsNonStreaming"),
    "completions": ("openai.types.completion_create_params", "CompletionCreateParamsNonStreaming"),
    "embeddings": ("openai.types.embedding_create_params", "EmbeddingCreateParams"),
    "responses": ("openai.types.responses.response_create_params", "ResponseCreateParamsNonStreaming"),
    "chat stream_options": ("openai.types.chat", "ChatCompletionStreamOptionsParam"),
    "chat response_format.json_schema": ("openai.types.shared_params.response_format_json_schema", "JSONSchema"),
    "responses text": ("openai.types.responses", "ResponseTextConfigParam"),
    "responses reasoning": ("openai.types.shared_params", "Reasoning"),
}
ANTHROPIC = {
    "messages": ("anthropic.types.beta.message_create_params", "MessageCreateParamsNonStreaming"),
    "count_tokens": ("anthropic.types.beta.message_count_tokens_params", "MessageCountTokensParams"),
    "messages output_config": ("anthropic.types.beta", "BetaOutputConfigParam"),
}
# Objects of one place that differ by their `type`, or by their role: each kind has its own fields.
KINDS = {
    "openai": [
        "chat messages[]",
        "chat messages[].content[]",
        "chat messages[].tool_calls[]",
        "chat messages[].tool_calls[].function",
        "chat messages[].tool_calls[].custom",
        "chat messages[].function_call",
        "chat response_format",
        "chat tools[]",
        "chat tools[].function",
        "chat tool_choice",
        "responses input[]",
        "responses input[].content[]",
        "responses input[].output[]",
        "responses text.format",
        "responses tools[]",
        "responses tools[].tools[]",
        "responses tool_choice",
    ],
    "anthropic": [
        "messages messages[]",
        "messages messages[].content[]",
        "messages messages[].content[].content[]",
        "messages system[]",
        "messages tools[]",
        "messages tool_choice",
        "messages thinking",
        "messages output_config.format",
    ],
}
VLLM = {
    "chat": ("vllm.entrypoints.openai.chat_completion.protocol", "ChatCompletionRequest"),
    "completions": ("vllm.entrypoints.openai.completion.protocol", "CompletionRequest"),
    "embeddings": ("vllm.entrypoints.pooling.embed.protocol", "EmbeddingCompletionRequest"),
    "responses": ("vllm.entrypoints.openai.responses.protocol", "ResponsesRequest"),
    "messages": ("vllm.entrypoints.anthropic.protocol", "AnthropicMessagesRequest"),
    "count_tokens": ("vllm.entrypoints.anthropic.protocol", "AnthropicCountTokensRequest"),
    "tokenize": ("vllm.entrypoints.serve.tokenize.protocol", "TokenizeCompletionRequest"),
    "tokenize_chat": ("vllm.entrypoints.serve.tokenize.protocol", "TokenizeChatRequest"),
    "detokenize": ("vllm.entrypoints.serve.tokenize.protocol", "DetokenizeRequest"),
    "generate": ("vllm.entrypoints.scale_out.token_in_token_out.protocol", "GenerateRequest"),
    "generate_sampling": ("vllm.sampling_params", "SamplingParams"),
    "chat messages[]": ("vllm.renderers.chat_utils", "CustomChatCompletionMessageParam"),
    "chat tools[]": ("vllm.entrypoints.openai.chat_completion.protocol", "ChatCompletionToolsParam"),
    "chat tools[].function": ("vllm.entrypoints.generate.base.protocol", "FunctionDefinition"),
    "chat stream_options": ("vllm.entrypoints.generate.base.protocol", "StreamOptions"),
    "chat response_format.json_schema": ("vllm.entrypoints.generate.base.protocol", "JsonSchemaResponseFormat"),
    "chat structured_outputs": ("vllm.sampling_params", "StructuredOutputsParams"),
    "messages messages[].content[]": ("vllm.entrypoints.anthropic.protocol", "AnthropicContentBlock"),
    "messages tools[]": ("vllm.entrypoints.anthropic.protocol", "AnthropicTool"),
}


def fields(module, name):
    return sorted(fields_of(getattr(importlib.import_module(module), name)))


def fields_of(kind):
    if typing.get_origin(kind) in (typing.Union, types.UnionType, typing.Annotated):  # one of several objects
        return {field for each in typing.get_args(kind) if not isinstance(each, str) for field in fields_of(each)}
    if hasattr(kind, "__struct_fields__"):  # of msgspec; those with an underscore are not read from requests
        return {field for field in kind.__struct_fields__ if not field.startswith("_")}
    if dataclasses.is_dataclass(kind):
        return {field.name for field in dataclasses.fields(kind) if not field.name.startswith("_")}
    if hasattr(kind, "model_fields"):
        return {field.alias or name for name, field in kind.model_fields.items()}
    return kind.__required_keys__ | kind.__optional_keys__


def alternatives(kind):
    """The objects that a type allows, also within lists."""
    if isinstance(kind, getattr(typing, "TypeAliasType", ())):
        return alternatives(kind.__value__)
    if hasattr(kind, "__required_keys__"):
        return [kind]
    inside = typing.get_args(kind) if typing.get_origin(kind) is not typing.Literal else ()
    return [each for argument in inside for each in alternatives(argument)]


def literals(kind):
    if typing.get_origin(kind) is typing.Literal:
        return list(typing.get_args(kind))
    return [each for argument in typing.get_args(kind) for each in literals(argument)]


def kinds(root, path):
    """The fields of every kind of object at `path` in the request: by its types, else by its roles, else by ""."""
    here = [root]
    for step in path.replace("[]", "").split("."):
        here = [
            each
            for parent in here
            for kind in [typing.get_type_hints(parent, include_extras=True).get(step)]
            if kind is not None
            for each in alternatives(kind)
        ]
    found = {}
    for each in here:
        hints = typing.get_type_hints(each, include_extras=True)
        for name in literals(hints.get("type")) or literals(hints.get("role")) or [""]:
            found.setdefault(name, set()).update(hints)
    return {name: sorted(fields) for name, fields in sorted(found.items())}


found = {}
for package, requests in {"openai": OPENAI, "anthropic": ANTHROPIC, "vllm": VLLM}.items():
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        continue
    found[package] = {"version": version, "requests": {name: fields(*where) for name, where in requests.items()}}
    for place in KINDS.get(package, []):
        request, path = place.split(" ")
        module, name = requests[request]
        root = getattr(importlib.import_module(module), name)
        found[package].setdefault("kinds", {})[place] = kinds(root, path)
print(json.dumps(found))
