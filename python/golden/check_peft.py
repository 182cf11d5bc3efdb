"""Loads adapters that Whetstone wrote with PEFT and compares their logits with those that Whetstone computed.

    python check_peft.py CASES.json

CASES.json: [{"base": DIR, "adapter": DIR, "merged": DIR, "logits": FILE.json, "tolerance": absolute}], where `merged` is the same
as one model without PEFT, which must have these logits too, and FILE.json is {"sequences": [{"tokens": [int], "logits": [[float]
per token]}]}. Prints an array with the distances of each case, and with `error` where they exceed the tolerance or something
cannot be loaded. Every tensor of an adapter must be loaded: PEFT only warns if one is not, here that is an error.
"""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM


class Mismatch(Exception):
    """What PEFT loaded is not what was written."""


def load(base: Path, adapter: Path) -> PeftModel:
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation="eager")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*adapter keys.*")
        peft_model = PeftModel.from_pretrained(model, adapter).eval()
    written = load_file(adapter / "adapter_model.safetensors")
    loaded = {name.replace(".default.", "."): p for name, p in peft_model.named_parameters() if ".lora_" in name}
    if written.keys() != loaded.keys():
        raise Mismatch(f"tensors only in the file or only in PEFT: {sorted(written.keys() ^ loaded.keys())}")
    wrong = [name for name, tensor in written.items() if not torch.equal(tensor.float(), loaded[name])]
    if wrong:
        raise Mismatch(f"tensors that PEFT loaded with other values: {wrong}")
    return peft_model


def compare(case: dict[str, Any]) -> dict[str, float | str]:
    model = load(Path(case["base"]), Path(case["adapter"]))
    merged = AutoModelForCausalLM.from_pretrained(case["merged"], dtype=torch.float32)
    worst, effect, merged_worst = 0.0, 0.0, 0.0
    with torch.no_grad():
        for sequence in json.loads(Path(case["logits"]).read_text())["sequences"]:
            ids = torch.tensor([sequence["tokens"]])
            logits = model(input_ids=ids).logits[0]
            theirs = torch.tensor(sequence["logits"])
            if theirs.shape != logits.shape or not theirs.isfinite().all():
                raise Mismatch(f"logits of shape {list(theirs.shape)}, all finite: {theirs.isfinite().all()}")
            worst = max(worst, (logits - theirs).abs().max().item())
            merged_worst = max(merged_worst, (merged(input_ids=ids).logits[0] - theirs).abs().max().item())
            with model.disable_adapter():
                effect = max(effect, (logits - model(input_ids=ids).logits[0]).abs().max().item())
    distances = {"logitsDistance": worst, "mergedDistance": merged_worst, "adapterEffect": effect}
    tolerance = case["tolerance"]
    if not max(worst, merged_worst) < tolerance:
        return {**distances, "error": f"logits differ by {worst}, merged by {merged_worst}, allowed are {tolerance}"}
    if not effect > 10 * tolerance:
        return {**distances, "error": f"the adapter changes logits by {effect} only: this would also pass without it"}
    return distances


def compare_or_say_why(case: dict[str, Any]) -> dict[str, float | str]:
    try:
        return compare(case)
    except Exception as error:  # the other cases go on
        return {"error": repr(error)}


def main() -> None:
    torch.set_num_threads(1)
    [path] = sys.argv[1:]
    print(json.dumps([compare_or_say_why(case) for case in json.loads(Path(path).read_text())]))


if __name__ == "__main__":
    main()
