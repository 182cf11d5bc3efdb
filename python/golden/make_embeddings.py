"""Writes test/support/golden/fixtures/embeddings.json: the embeddings of three sequences from Transformers and PEFT.

The hidden state after the last norm at the last token, divided by its length, with and without the adapter. The models
are those of make_models.py, which must be written first.
"""

import json

import torch
from families import wanted_families
from make_models import load, write_json
from peft import PeftModel
from provenance import FIXTURES, known_fixture, made_with

TOLERANCE = 1e-5  # absolute; vectors have length 1


def embedding(model: torch.nn.Module, tokens: list[int]) -> list[float]:
    states = model(input_ids=torch.tensor([tokens]), output_hidden_states=True).hidden_states[-1]
    return torch.nn.functional.normalize(states[0, -1], dim=-1).tolist()


@torch.no_grad()
def of_family(name: str) -> dict:
    directory = FIXTURES / name
    sequences = json.loads((directory / "expected.json").read_text())["sequences"]
    model = load(directory / "model")
    base = {key: embedding(model, tokens) for key, tokens in sequences.items()}
    adapted = PeftModel.from_pretrained(model, directory / "adapter").eval()
    return {"base": base, "adapter": {key: embedding(adapted, tokens) for key, tokens in sequences.items()}}


def main() -> None:
    torch.set_num_threads(1)
    write_json(
        FIXTURES / "embeddings.json",
        {
            "madeWith": made_with("torch", "transformers", "peft"),
            "tolerance": TOLERANCE,
            "families": known_fixture("embeddings.json").get("families", {})
            | {family.name: of_family(family.name) for family in wanted_families()},
        },
    )


if __name__ == "__main__":
    main()
