"""Constraints in vLLM's format."""

import json
from typing import Any

import pytest

from vllm_scenes import PREPARED, SCHEMA, SEPARATED, TAGS
from whetstone_worker.errors import WorkerError
from whetstone_worker.sampling.request import Constraint, read_constraint
from whetstone_worker.sampling.structured_outputs import CONSTRAINT_KINDS, structured_outputs

LOOSE = {"type": "json_schema", "json_schema": {"type": "integer"}, "otherwise": {"type": "object"}}


def tag(content: object) -> Constraint:
    form = {"type": "tag", "begin": "<a>", "content": content, "end": "</a>"}
    return Constraint("structural_tag", json.dumps({"type": "structural_tag", "format": form}))


def formats(constraint: Constraint) -> list[Any]:
    tags = [json.loads(str(each["structural_tag"])) for each in structured_outputs(constraint)]
    assert all(each["type"] == "structural_tag" for each in tags)
    return [each["format"] for each in tags]


def test_each_kind_of_constraint_has_a_form() -> None:
    assert [json.loads(str(each["json"])) for each in structured_outputs(Constraint("json_schema", SCHEMA))] == [
        json.loads(SCHEMA)
    ]
    assert structured_outputs(Constraint("regex", "a+")) == [{"regex": "a+"}]
    assert structured_outputs(Constraint("ebnf", 'root ::= "a"')) == [{"grammar": 'root ::= "a"'}]
    assert formats(read_constraint(PREPARED["tags"])) == [SEPARATED]
    assert {each["kind"] for each in PREPARED.values()} == set(CONSTRAINT_KINDS)


def test_a_choice_of_constraints_becomes_a_tag_of_alternatives() -> None:
    source = [
        {"kind": "structural_tag", "source": json.dumps({"type": "structural_tag", "format": {"tags": TAGS}})},
        {"kind": "json_schema", "source": SCHEMA},
        {"kind": "regex", "source": "a+"},
        {"kind": "ebnf", "source": 'root ::= "a"'},
    ]
    assert formats(Constraint("either", json.dumps(source))) == [
        {
            "type": "or",
            "elements": [
                {"tags": TAGS},
                {"type": "json_schema", "json_schema": json.loads(SCHEMA)},
                {"type": "regex", "pattern": "a+"},
                {"type": "grammar", "grammar": 'root ::= "a"'},
            ],
        }
    ]


def test_an_optional_schema_gives_a_second_form() -> None:
    given, looser = formats(tag(LOOSE))
    assert given["content"] == {"type": "json_schema", "json_schema": {"type": "integer"}}
    assert looser["content"] == {"type": "json_schema", "json_schema": {"type": "object"}}
    alternatives = [{"kind": "structural_tag", "source": tag(LOOSE).source}, {"kind": "regex", "source": "a"}]
    first, second = formats(Constraint("either", json.dumps(alternatives)))
    assert [each["elements"][0]["content"]["json_schema"]["type"] for each in (first, second)] == ["integer", "object"]
    assert first["elements"][1] == second["elements"][1]


def test_a_strict_schema_forbids_additional_properties() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"a": inner, "properties": {"enum": [{"properties": {}}]}}}
    combined = {"properties": {"a": inner}, "anyOf": [inner]}
    ((form,), (other,)) = (
        structured_outputs(Constraint("json_schema", json.dumps(each), strict=True)) for each in (schema, combined)
    )
    closed = {**inner, "additionalProperties": False}
    assert json.loads(str(form["json"])) == {
        "type": "object",
        "properties": {"a": closed, "properties": {"enum": [{"properties": {}}]}},
        "additionalProperties": False,
    }
    assert json.loads(str(other["json"])) == {"properties": {"a": closed}, "anyOf": [closed]}


def test_contents_of_combined_schemas_are_left_unchanged() -> None:
    schema = {"type": "object", "properties": {"otherwise": {"type": "integer"}}}
    assert formats(tag({"type": "json_schema", "json_schema": schema}))[0]["content"]["json_schema"] == schema


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (Constraint("json_schema", "{}", any_whitespace=False), "cannot restrict white space"),
        (Constraint("json_schema", "{}", whitespace_pattern=" ?"), "cannot restrict white space"),
        (Constraint("structural_tag", "{"), "it is not valid JSON"),
        (Constraint("structural_tag", "{}"), "KeyError 'format'"),
        (Constraint("either", "3"), "TypeError"),
        (Constraint("poem", "x"), "'poem'"),
    ],
)
def test_constraints_that_vllm_does_not_support_are_refused(constraint: Constraint, words: str) -> None:
    with pytest.raises(WorkerError, match=words) as caught:
        structured_outputs(constraint)
    assert caught.value.code == "invalid_constraint"
