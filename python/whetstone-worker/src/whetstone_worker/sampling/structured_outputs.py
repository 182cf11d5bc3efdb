"""Converts constraints (src/domain/constraint.ts) to vLLM's `structured_outputs`. Pure. vLLM compiles them and reports those
that it does not support.

vLLM has several libraries for this and uses the first that supports the whole schema. The usual one allows an object only the
properties that its schema names, with or without `strict`; for the others this is stated in the schema.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.request import Constraint, read_constraint

CONSTRAINT_KINDS = ("json_schema", "regex", "ebnf", "structural_tag", "either")


def structured_outputs(constraint: Constraint) -> list[dict[str, object]]:
    """Returns the forms in the order in which to try them: a tag may name a looser one to use if a schema is unsupported.
    Raises WorkerError invalid_constraint."""
    kind, source = constraint.kind, constraint.source
    if kind == "json_schema":
        return [{"json": json.dumps(_schema(constraint))}]
    if kind == "regex":
        return [{"regex": source}]
    if kind == "ebnf":
        return [{"grammar": source}]
    try:
        formats = _formats(constraint)
    except (KeyError, TypeError, AttributeError) as fault:
        raise WorkerError("invalid_constraint", f"This {kind} cannot be used: {type(fault).__name__} {fault}.") from fault
    return [{"structural_tag": json.dumps({"type": "structural_tag", "format": each})} for each in formats]


def _formats(constraint: Constraint) -> list[object]:
    """The forms of a structural tag: the form itself, and the looser one if it has `otherwise`."""
    match constraint:
        case Constraint(kind="structural_tag", source=source):
            form = _parse(source)["format"]
            given = _replace(form, lambda part: {name: value for name, value in part.items() if name != "otherwise"})
            looser = _replace(form, _loosened)
            return [given] if given == looser else [given, looser]
        case Constraint(kind="either", source=source):
            choices = [_formats(read_constraint(each)) for each in _parse(source)]
            longest = max(map(len, choices), default=0)
            return [{"type": "or", "elements": [each[min(at, len(each) - 1)] for each in choices]} for at in range(longest)]
        case Constraint(kind="json_schema"):
            return [{"type": "json_schema", "json_schema": _schema(constraint)}]
        case Constraint(kind="regex", source=source):
            return [{"type": "regex", "pattern": source}]
        case Constraint(kind="ebnf", source=source):
            return [{"type": "grammar", "grammar": source}]
    raise WorkerError("invalid_constraint", f"Unknown kind of constraint: {constraint.kind!r:.40}.")


def _loosened(part: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in part.items() if name != "otherwise"}
    return {**kept, "json_schema": part["otherwise"]} if "otherwise" in part else kept


def _replace(form: Any, change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Any:
    """Applies `change` to every part that has a schema; does not descend into schemas."""
    if isinstance(form, list):
        return [_replace(each, change) for each in form]
    if not isinstance(form, dict):
        return form
    if "json_schema" in form:
        return change(form)
    return {name: _replace(value, change) for name, value in form.items()}


def _schema(constraint: Constraint) -> Any:
    if constraint.whitespace_pattern is not None or not constraint.any_whitespace:
        words = "This JSON schema cannot be used: the engine of this model cannot restrict white space. Omit those options."
        raise WorkerError("invalid_constraint", words)
    schema = _parse(constraint.source)
    return _closed(schema) if constraint.strict else schema


_COMBINING = ("allOf", "anyOf", "oneOf", "$ref")
_OPENNESS = ("additionalProperties", "unevaluatedProperties", "patternProperties")
_SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_NO_SCHEMAS = ("enum", "const", "default", "examples", "allOf")
"""Their contents are left unchanged: in allOf all parts apply at once, and each may name properties of the others."""


def _closed(schema: Any) -> Any:
    """Allows objects only the named properties. Properties that a combined schema does not name may be named by its parts."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _closed_below(name, value) for name, value in schema.items()}
    is_open = isinstance(schema.get("properties"), dict) and not any(name in schema for name in (*_COMBINING, *_OPENNESS))
    return {**kept, "additionalProperties": False} if is_open else kept


def _closed_below(keyword: str, value: Any) -> Any:
    if keyword in _NO_SCHEMAS:
        return value
    if keyword in _SCHEMAS_BY_NAME and isinstance(value, dict):
        return {name: _closed(schema) for name, schema in value.items()}
    return _closed(value)


def _parse(source: str) -> Any:
    try:
        return json.loads(source)
    except ValueError as fault:
        raise WorkerError("invalid_constraint", f"This constraint cannot be used: it is not valid JSON ({fault}).") from fault
