"""What goes over the wire, under the wire's names. Fields that a newer server adds are kept."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Status = Literal["queued", "running", "succeeded", "failed", "cancelled"]


class Wire(BaseModel):
    model_config = ConfigDict(extra="allow", protected_namespaces=())


class SavePolicy(Wire):
    """Which checkpoints of a model stay when a job makes one, under the names of Transformers."""

    save_total_limit: int
    """The newest, the best, then the newest of the others. What is in use stays beside them."""
    metric_for_best_model: str | None = None
    """A metric of checkpoints, such as `val/reward`. None: age alone counts."""
    greater_is_better: bool | None = None
    """None is false for a metric whose name ends with `loss`, else true."""


class Model(Wire):
    id: str
    entity: str
    project: str
    name: str
    base_model: str
    lora: "Lora | None" = None
    """Of the latest checkpoint; where one model is read."""
    save_policy: SavePolicy | None = None
    """None: all checkpoints stay. Where one model is read."""

    @property
    def path(self) -> str:
        """As chat names it; with `:step3` one of its checkpoints."""
        return f"{self.entity}/{self.project}/{self.name}"


class Lora(Wire):
    """The adapter of a model, under the names of PEFT's LoraConfig. None is the server's choice."""

    r: int | None = None
    lora_alpha: float | None = None
    target_modules: list[str] | Literal["all-linear"] | None = None
    use_rslora: bool | None = None
    seed: int | None = None


class Checkpoint(Wire):
    id: str
    step: int
    metrics: dict[str, float]


class Evaluation(Wire):
    """How far the answers of a job's checkpoint are."""

    status: Status
    num_prompts: int
    num_samples: int
    num_answered: int
    num_failed: int
    error_message: str | None = None


class TrainingJob(Wire):
    id: str
    type: str
    model_id: str
    status: Status
    progress: float
    step: int | None = None
    error_message: str | None = None
    skipped: dict[str, int] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)
    evaluation: Evaluation | None = None


class TrainingEvent(Wire):
    id: str
    type: Literal["training_started", "gradient_step", "training_ended", "training_failed"]
    data: dict[str, Any]


class TrainingProgress(Wire):
    """Gradient steps that are done, all of them, and the metrics of the last one."""

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
    """Goes into a trajectory as it came: its tokens and log-probabilities are what is trained."""

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
    """Of a checkpoint to a held-out prompt."""

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
    """A version of named files."""

    id: str
    entity: str
    project: str
    name: str
    version: str
    uri: str
    files: list[ArtifactFile]


class Trajectory(Wire):
    """Messages are context; choices of chat answers, as they came (from this package or from openai's), are trained."""

    messages_and_choices: list[Any]
    reward: FiniteFloat
    tools: list[Any] | None = None
    metrics: dict[str, float | bool] = Field(default_factory=dict)


class TrajectoryGroup(Wire):
    trajectories: list[Trajectory]
    exceptions: list[Any] = Field(default_factory=list)
    metadata: dict[str, Any] = Field(default_factory=dict)


class RlJob(Wire):
    model_id: str
    trajectory_groups: list[TrajectoryGroup]
    experimental_config: dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None


class BatchConfig(Wire):
    """How rows of data are trained, whatever they are. None is the server's choice."""

    batch_size: int | Literal["auto"] | None = None
    epochs: int | None = None
    learning_rate: float | list[float] | None = None
    """One, or one per batch of all epochs."""
    lr_scheduler_type: Literal["constant", "linear", "cosine"] | None = None
    warmup_steps: int | None = None
    warmup_ratio: float | None = None
    packing: bool | None = None
    validation_split: float | None = None
    """Fraction of the rows, the last ones, that is held out."""
    eval_steps: int | None = None
    """Gradient steps from one evaluation of the held-out rows to the next."""
    early_stopping_patience: int | None = None
    """Evaluations without improvement after which the job ends, with a checkpoint."""
    early_stopping_threshold: float | None = None
    """What an improvement must be more than."""
    load_best_model_at_end: bool | None = None
    """The checkpoint has the weights of the best evaluation; by default where the job may end early."""


class SftConfig(BatchConfig):
    """None is the server's choice: a learning rate that fits the model's size, one epoch, a constant rate, packed rows."""

    assistant_turns: Literal["all", "last"] | None = None


class SftJob(Wire):
    model_id: str
    training_data_url: str
    config: SftConfig | dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None


class DpoConfig(BatchConfig):
    """None is the server's choice: beta 0.1, the loss sigmoid, 8 pairs per gradient step; the rest as of SftConfig."""

    beta: float | None = None
    """How near the policy stays to the checkpoint that the job begins with."""
    loss_type: Literal["sigmoid", "robust", "hinge", "ipo"] | None = None
    label_smoothing: float | None = None
    metric_for_best_model: Literal["val/loss", "val/rewards/margins", "val/rewards/accuracies"] | None = None
    """By which evaluations are compared."""


class DpoJob(Wire):
    """On preference pairs: a line of the data has a prompt, a chosen and a rejected answer."""

    model_id: str
    training_data_url: str
    config: DpoConfig | dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None
