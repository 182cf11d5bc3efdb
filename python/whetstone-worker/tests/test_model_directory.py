"""The value of `--model`, as the server reads it."""

from pathlib import Path
from typing import Any

import huggingface_hub
import pytest

from repository import STARTER
from whetstone_worker.errors import WorkerError
from whetstone_worker.model_directory import find_model


@pytest.mark.parametrize(
    ("name", "asked"),
    [("Qwen/Qwen3-0.6B", None), ("Qwen/Qwen3-0.6B@refs/pr/1", "refs/pr/1")],
)
def test_a_model_of_the_hub_may_have_a_revision_which_is_no_part_of_its_id(
    name: str, asked: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(hub_id: str, *, revision: str | None, **_: Any) -> str:
        assert (hub_id, revision) == ("Qwen/Qwen3-0.6B", asked)
        return str(STARTER)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    model = find_model(name, None)
    assert (model.id, model.path) == ("Qwen/Qwen3-0.6B", Path(STARTER))


@pytest.mark.parametrize("name", ["nothing", "a/b@", "a/b@../c", "a/b@x@y"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(WorkerError, match=r"it is not a Hub id \(owner/name, owner/name@revision\)"):
        find_model(name, None)
