"""The objects of the HTTP API, with the API's field names. Fields that a newer server adds are kept."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Status = Literal["queued", "running", "succeeded", "failed", "cancelled"]


class Wire(BaseModel):
    model_config = ConfigDict(extra="allow", protected_namespaces=())


class SavePolicy(Wire):
    """Which checkpoints of a model are kept when a job creates one, with the names of Transformers."""

    save_total_limit: int
    """Keeps the newest, the best, then the newest of the others. Checkpoints in use are kept in addition."""
    metric_for_best_model: str | None = None
    """A metric of checkpoints, such as `val/reward`. None: only their age counts."""
    greater_is_better: bool | None = None
    """None: false for a metric whose name ends with `loss`, otherwise true."""


class Model(Wire):
    id: str
    entity: str
    project: str
    name: str
    base_model: str
    lora: "Lora | None" = None
    """Those of the latest checkpoint; set only when a single model is read."""
    save_policy: SavePolicy | None = None
    """None: all checkpoints are kept. Set only when a single model is read."""
    tags: list[str] | None = None
    """Tags, note and time of archiving are set only when a single model is read."""
    note: str | None = None
    archived_at: str | None = None
    trained_online: bool | None = None
    """Whether the server makes jobs from its episodes. Set only when a single model is read."""

    @property
    def path(self) -> str:
        """The model's name for chat; append `:step3` for one of its checkpoints."""
        return f"{self.entity}/{self.project}/{self.name}"


class ModelLabels(Wire):
    model_id: str
    tags: list[str]
    note: str | None = None
    archived_at: str | None = None
    """None: lists show the model."""


class ModelProject(Wire):
    id: str
    """The project's name."""
    model_count: int
    """Models that are not archived."""
    archived_count: int
    active_at: str


class Lora(Wire):
    """The adapter of a model, with the names of PEFT's LoraConfig. None: the server's default."""

    r: int | None = None
    lora_alpha: float | None = None
    target_modules: list[str] | Literal["all-linear"] | None = None
    use_rslora: bool | None = None
    seed: int | None = None


class Checkpoint(Wire):
    id: str
    step: int
    created_at: str | None = None
    metrics: dict[str, float]


class Evaluation(Wire):
    """The progress of the evaluation of a job's checkpoint."""

    status: Status
    num_prompts: int
    num_samples: int
    num_answered: int
    num_failed: int
    error_message: str | None = None


class WaitingFor(Wire):
    """What a job waits behind: `job` or `training_client`; `trainer`: none is ready. `id` is None for another account's."""

    type: str
    id: str | None = None
    message: str


class TrainingJob(Wire):
    id: str
    type: str
    model_id: str
    status: Status
    progress: float
    step: int | None = None
    model_name: str | None = None
    reward: float | None = None
    loss: float | None = None
    seconds: float | None = None
    error_message: str | None = None
    waiting_for: WaitingFor | None = None
    skipped: dict[str, int] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)
    evaluation: Evaluation | None = None


class TrainingEvent(Wire):
    id: str
    type: Literal["training_started", "gradient_step", "training_ended", "training_failed", "training_waiting"]
    data: dict[str, Any]


class TrainingProgress(Wire):
    """Number of finished gradient steps, their total, and the metrics of the last one."""

    done: int
    total: int
    metrics: dict[str, float]


class HistoryStep(Wire):
    step: int | None
    metrics: dict[str, float]


class Message(Wire):
    role: str
    content: str | None = None


class Choice(Wire):
    """Put it into a trajectory unchanged: its tokens and log-probabilities are what is trained."""

    index: int
    message: Message
    finish_reason: str | None = None

    @property
    def text(self) -> str:
        return self.message.content or ""


class ChatCompletion(Wire):
    id: str
    model: str
    choices: list[Choice]


class Answer(Wire):
    """A checkpoint's answer to a held-out prompt."""

    index: int
    message: Message
    finish_reason: str
    reward: float | None = None

    @property
    def text(self) -> str:
        return self.message.content or ""


class AnsweredPrompt(Wire):
    id: str
    index: int
    messages: list[dict[str, Any]]
    metadata: dict[str, Any]
    error: str | None = None
    answers: list[Answer] | None = None


class ArtifactFile(Wire):
    path: str
    size_bytes: int
    sha256: str


class Artifact(Wire):
    """A version of a set of named files."""

    id: str
    entity: str
    project: str
    name: str
    version: str
    uri: str
    files: list[ArtifactFile]


class Trajectory(Wire):
    """Messages are context; choices of chat responses (of this package or openai's), unchanged, are trained."""

    messages_and_choices: list[Any]
    reward: FiniteFloat
    tools: list[Any] | None = None
    metrics: dict[str, float | bool] = Field(default_factory=dict)


class TrajectoryGroup(Wire):
    trajectories: list[Trajectory]
    exceptions: list[Any] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)


class RlJob(Wire):
    """One of trajectory_groups and episode_groups is given."""

    model_id: str
    trajectory_groups: list[TrajectoryGroup] | None = None
    episode_groups: list[list[str]] | None = None
    """Ids or names of rewarded episodes, in groups at the same task."""
    experimental_config: dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None


class BatchConfig(Wire):
    """How rows of data are trained, for SFT and DPO. None: the server's default."""

    batch_size: int | Literal["auto"] | None = None
    epochs: int | None = None
    learning_rate: float | list[float] | None = None
    """A single learning rate, or one per batch of all epochs."""
    lr_scheduler_type: Literal["constant", "linear", "cosine"] | None = None
    warmup_steps: int | None = None
    warmup_ratio: float | None = None
    packing: bool | None = None
    validation_split: float | None = None
    """Fraction of the rows to hold out, from the end."""
    eval_steps: int | None = None
    """Number of gradient steps between evaluations of the held-out rows."""
    early_stopping_patience: int | None = None
    """Number of evaluations without improvement after which the job ends, with a checkpoint."""
    early_stopping_threshold: float | None = None
    """An improvement must be greater than this."""
    load_best_model_at_end: bool | None = None
    """Whether the checkpoint gets the weights of the best evaluation; default: true if the job may end early."""


class SftConfig(BatchConfig):
    """None: the server's default, a learning rate that fits the model's size, one epoch, a constant rate, packed rows."""

    assistant_turns: Literal["all", "last"] | None = None


class SftJob(Wire):
    model_id: str
    training_data_url: str
    config: SftConfig | dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None


class DpoConfig(BatchConfig):
    """None: the server's default, beta 0.1, sigmoid loss, 8 pairs per gradient step; the rest as in SftConfig."""

    beta: float | None = None
    """How strongly the policy is kept near the checkpoint that the job starts from."""
    loss_type: Literal["sigmoid", "robust", "hinge", "ipo"] | None = None
    label_smoothing: float | None = None
    metric_for_best_model: Literal["val/loss", "val/rewards/margins", "val/rewards/accuracies"] | None = None
    """The metric by which evaluations are compared."""


class DpoJob(Wire):
    """Trains on preference pairs: each line of the data has a prompt, a chosen and a rejected answer."""

    model_id: str
    training_data_url: str
    config: DpoConfig | dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None
