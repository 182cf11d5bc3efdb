"""Makes equal work produce equal bytes on one device: deterministic algorithms, a fixed number of threads, and no rounding of
float32 to TF32. Called once per process, before anything is computed.
"""

import os

import torch


def be_deterministic(threads: int) -> None:
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA starts; cuBLAS is otherwise nondeterministic
    torch.use_deterministic_algorithms(True)
    # Otherwise every new tensor is first filled with NaN, which helps to find bugs but does not change results.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision("highest")
