"""The sampler: a vLLM server as a child process, spoken to by token ids (docs/decisions/0020). Imports no PyTorch."""
