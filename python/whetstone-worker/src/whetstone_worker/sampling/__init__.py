"""The sampler: a vLLM server as a child process, addressed with token ids (docs/decisions/0020). Does not import PyTorch."""
