"""The models of a server: registered, found, labelled, deleted. Their checkpoints are methods of `AsyncClient` itself."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal
from urllib.parse import quote

from whetstone_client.answers import segment
from whetstone_client.http import Http
from whetstone_client.wire import Lora, Model, ModelLabels, ModelProject, SavePolicy


def model_path(model_id: str) -> str:
    return f"/v1/preview/models/{quote(segment(model_id), safe='')}"


class ModelMethods:
    """The methods of `AsyncClient` for models."""

    _http: Http

    async def register_model(
        self,
        project: str,
        name: str,
        base_model: str,
        *,
        entity: str | None = None,
        lora: Lora | None = None,
        from_checkpoint: str | None = None,
        save_policy: SavePolicy | None = None,
        return_existing: bool = True,
    ) -> Model:
        """`lora`: the adapter to train; `from_checkpoint`: forks a model, given as `entity/project/name@N`."""
        body = {"project": project, "name": name, "base_model": base_model, "return_existing": return_existing}
        owned = {} if entity is None else {"entity": entity}
        adapter = {} if lora is None else {"lora": lora.model_dump(exclude_none=True)}
        forked = {} if from_checkpoint is None else {"from_checkpoint": from_checkpoint}
        kept = {} if save_policy is None else {"save_policy": save_policy.model_dump(exclude_none=True)}
        return await self._http.call(Model, "POST", "/v1/preview/models", {**body, **owned, **adapter, **forked, **kept})

    async def set_save_policy(self, model_id: str, policy: SavePolicy | None) -> Model:
        """Sets which checkpoints are kept, from the next one on. None: all of them."""
        body = {"save_policy": policy and policy.model_dump(exclude_none=True)}
        return await self._http.call(Model, "PUT", f"{model_path(model_id)}/save-policy", body)

    async def get_model(self, model_id: str) -> Model:
        return await self._http.call(Model, "GET", model_path(model_id))

    def list_models(
        self,
        project: str | None = None,
        name: str | None = None,
        *,
        base_model: str | None = None,
        tag: str | None = None,
        archived: Literal["exclude", "include", "only"] | None = None,
    ) -> AsyncIterator[Model]:
        """Archived models are left out unless `archived` asks for them or `name` is given."""
        query = {"project": project, "name": name, "base_model": base_model, "tag": tag, "archived": archived}
        return self._http.rows(Model, "/v1/preview/models", query)

    def list_model_projects(self) -> AsyncIterator[ModelProject]:
        """By name."""
        return self._http.rows(ModelProject, "/v1/preview/model-projects")

    async def set_model_labels(
        self,
        model_id: str,
        *,
        tags: Sequence[str] | None = None,
        note: str | None = None,
        archived: bool | None = None,
    ) -> ModelLabels:
        """None leaves a label as it is; an empty note removes it. `tags` are all tags of the model."""
        change = {"tags": None if tags is None else list(tags), "note": note, "archived": archived}
        body = {key: value for key, value in change.items() if value is not None}
        return await self._http.call(ModelLabels, "PUT", f"{model_path(model_id)}/labels", body)

    async def delete_model(self, model_id: str) -> None:
        await self._http.call(dict[str, Any], "DELETE", model_path(model_id))
