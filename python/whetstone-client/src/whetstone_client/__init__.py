"""Train a language model by reinforcement learning on a Whetstone server."""

from whetstone_client.artifact_files import ArtifactFilesError
from whetstone_client.async_client import AsyncClient
from whetstone_client.client import Client
from whetstone_client.early_stopping import EarlyStopping, Evaluated
from whetstone_client.errors import ApiError, TrainingFailedError
from whetstone_client.gather import Gathered, GatherProgress, Place, RolloutFailure, gather, gather_async
from whetstone_client.wire import (
    Answer,
    AnsweredPrompt,
    Artifact,
    ChatCompletion,
    Checkpoint,
    Choice,
    DpoConfig,
    DpoJob,
    Evaluation,
    HistoryStep,
    Lora,
    Model,
    RlJob,
    SavePolicy,
    SftConfig,
    SftJob,
    TrainingEvent,
    TrainingJob,
    TrainingProgress,
    Trajectory,
    TrajectoryGroup,
)

__all__ = [
    "Answer",
    "AnsweredPrompt",
    "ApiError",
    "Artifact",
    "ArtifactFilesError",
    "AsyncClient",
    "ChatCompletion",
    "Checkpoint",
    "Choice",
    "Client",
    "DpoConfig",
    "DpoJob",
    "EarlyStopping",
    "Evaluated",
    "Evaluation",
    "GatherProgress",
    "Gathered",
    "HistoryStep",
    "Lora",
    "Model",
    "Place",
    "RlJob",
    "RolloutFailure",
    "SavePolicy",
    "SftConfig",
    "SftJob",
    "TrainingEvent",
    "TrainingFailedError",
    "TrainingJob",
    "TrainingProgress",
    "Trajectory",
    "TrajectoryGroup",
    "gather",
    "gather_async",
]
