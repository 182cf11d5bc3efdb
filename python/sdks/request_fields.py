"""Prints, as JSON, the fields of every generation request of the installed openai, anthropic and vllm packages. A package that is not
installed is left out. test/service/clients/request-fields.json has the fields of the newest versions."""

import importlib
import importlib.metadata
import json

OPENAI = {
    "chat": ("openai.types.chat.completion_create_params", "CompletionCreateParamsNonStreaming"),
    "completions": ("openai.types.completion_create_params", "CompletionCreateParamsNonStreaming"),
    "embeddings": ("openai.types.embedding_create_params", "EmbeddingCreateParams"),
    "responses": ("openai.types.responses.response_create_params", "ResponseCreateParamsNonStreaming"),
}
ANTHROPIC = {
    "messages": ("anthropic.types.beta.message_create_params", "MessageCreateParamsNonStreaming"),
    "count_tokens": ("anthropic.types.beta.message_count_tokens_params", "MessageCountTokensParams"),
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
}


def fields(module, name):
    kind = getattr(importlib.import_module(module), name)
    if hasattr(kind, "__struct_fields__"):  # of msgspec; those with an underscore are not read from requests
        return sorted(field for field in kind.__struct_fields__ if not field.startswith("_"))
    return sorted(kind.model_fields if hasattr(kind, "model_fields") else kind.__required_keys__ | kind.__optional_keys__)


found = {}
for package, requests in {"openai": OPENAI, "anthropic": ANTHROPIC, "vllm": VLLM}.items():
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        continue
    found[package] = {"version": version, "requests": {name: fields(*where) for name, where in requests.items()}}
print(json.dumps(found))
