"""A per-token loss as data (src/engine/loss-program.ts), parsed from the message format: nested maps with an `op`.

Equal subtrees become one node, so that a repeated expression is computed once. Knows the structure of programs;
evaluate_loss.py knows what the operations mean.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from whetstone_worker.errors import WorkerError

UnaryOp = Literal["neg", "exp", "sqrt", "stopGradient", "isNaN", "sequenceMean", "mean", "largest", "smallest"]
BinaryOp = Literal["add", "sub", "mul", "div", "min", "max", "less"]
LeafOp = Literal["logprob", "entropy", "input", "constant"]
Op = UnaryOp | BinaryOp | LeafOp | Literal["where"]

_PARTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(get_args(LeafOp), ()),
    **dict.fromkeys(get_args(UnaryOp), ("x",)),
    **dict.fromkeys(get_args(BinaryOp), ("x", "y")),
    "where": ("condition", "x", "y"),
}
DEPTH_MAX = 200
"""Whetstone's own programs are 25 deep. Without a limit, a deeply nested message would overflow the interpreter's stack."""


@dataclass(frozen=True, eq=False)
class Expression:
    op: Op
    parts: tuple["Expression", ...] = ()
    name: str = ""
    """For op `input`: the name of the input."""
    value: float = 0.0
    """For op `constant`: the number."""


@dataclass(frozen=True)
class LossProgram:
    name: str
    per_token: Expression
    per_trained_token: bool
    """Whether the sum over the trained tokens is divided by their number."""
    metrics: Mapping[str, Expression]

    def inputs(self) -> list[str]:
        names = {e.name for root in (self.per_token, *self.metrics.values()) for e in _walk(root) if e.op == "input"}
        return sorted(names)


def parse_loss_program(value: Mapping[str, object]) -> LossProgram:
    name = str(value.get("name", ""))
    denominator = value.get("denominator", "tokens")
    if denominator not in ("tokens", "one"):
        raise _refuse(name, f"denominator {denominator!r} is neither 'tokens' nor 'one'")
    metrics = value.get("metrics", {})
    if not isinstance(metrics, Mapping):
        raise _refuse(name, "metrics are not expressions by name")
    parser = _Parser(name)
    return LossProgram(
        name=name,
        per_token=parser.parse(value.get("perToken")),
        per_trained_token=denominator == "tokens",
        metrics={str(metric): parser.parse(expression) for metric, expression in metrics.items()},
    )


class _Parser:
    def __init__(self, program: str) -> None:
        self._program = program
        self._known: dict[tuple[object, ...], Expression] = {}

    def parse(self, value: object, depth: int = 0) -> Expression:
        if not isinstance(value, Mapping) or value.get("op") not in _PARTS:
            raise _refuse(self._program, f"{str(value)[:80]} is not an expression")
        if depth >= DEPTH_MAX:
            raise _refuse(self._program, f"it is more than {DEPTH_MAX} expressions deep")
        op = cast(Op, value["op"])
        parts = tuple(self.parse(value.get(part), depth + 1) for part in _PARTS[op])
        name, constant = value.get("name", ""), value.get("value", 0.0)
        if op == "input" and not (isinstance(name, str) and name):
            raise _refuse(self._program, "an input has no name")
        if op == "constant" and not isinstance(constant, (int, float)):
            raise _refuse(self._program, f"constant {constant!r} is not a number")
        made = Expression(op, parts, name if op == "input" else "", float(cast(float, constant)) if op == "constant" else 0.0)
        return self._known.setdefault((op, *map(id, parts), made.name, repr(made.value)), made)


def _walk(root: Expression) -> Iterator[Expression]:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        expression = waiting.pop()
        if id(expression) not in seen:
            seen.add(id(expression))
            waiting += expression.parts
            yield expression


def _refuse(program: str, fault: str) -> WorkerError:
    return WorkerError("invalid_request", f"Loss {program} cannot be computed: {fault}.")
