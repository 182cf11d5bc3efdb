"""A TrainingEngine on PyTorch: rows, losses and optimizer as data, LoRA over a frozen Transformers model.

Its required behaviour is defined by src/engine/training-engine.ts and tested by test/support/contract/training-engine.ts.
"""
