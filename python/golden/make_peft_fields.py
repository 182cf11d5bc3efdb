"""Writes the fields of PEFT's LoraConfig, and a config with its defaults: src/model-files/peft-config.ts has a decision for each field."""

import dataclasses
import json
import tempfile
from pathlib import Path

from peft import LoraConfig
from provenance import FIXTURES, made_with


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        LoraConfig(target_modules=["q_proj"]).save_pretrained(directory)
        written = json.loads((Path(directory) / "adapter_config.json").read_text())
    fields = sorted(field.name for field in dataclasses.fields(LoraConfig))
    content = {"made_with": made_with("peft"), "fields": fields, "written": written}
    (FIXTURES / "peft-lora-fields.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
