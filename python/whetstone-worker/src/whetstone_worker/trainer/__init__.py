"""A TrainingEngine on PyTorch: rows, losses and optimizer as data, LoRA over a frozen Transformers model.

What it must do is fixed by src/engine/training-engine.ts and signed by test/contract/training-engine.ts.
"""
