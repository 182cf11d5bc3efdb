"""Loads an adapter that Whetstone wrote with PEFT and compares its logits with those that Whetstone computed.

    python check_peft.py --base DIR --adapter DIR --logits FILE.json [--merged DIR] [--tolerance 1e-4]

FILE.json: {"sequences": [{"tokens": [int], "logits": [[float] per token]}]}. Prints one line; exit 0 if all are within
the tolerance, 1 if not. Every tensor of the adapter must be loaded: PEFT only warns if one is not, here that is an error.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM


def load(base: Path, adapter: Path) -> PeftModel:
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32, attn_implementation="eager")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*adapter keys.*")
        peft_model = PeftModel.from_pretrained(model, adapter).eval()
    written = load_file(adapter / "adapter_model.safetensors")
    loaded = {name.replace(".default.", "."): p for name, p in peft_model.named_parameters() if ".lora_" in name}
    if written.keys() != loaded.keys():
        sys.exit(f"tensors only in the file or only in PEFT: {sorted(written.keys() ^ loaded.keys())}")
    wrong = [name for name, tensor in written.items() if not torch.equal(tensor.float(), loaded[name])]
    if wrong:
        sys.exit(f"tensors that PEFT loaded with other values: {wrong}")
    return peft_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True)
    parser.add_argument("--logits", type=Path, required=True)
    parser.add_argument("--merged", type=Path, help="the same as one model without PEFT, which must have these logits too")
    parser.add_argument("--tolerance", type=float, default=1e-4, help="absolute")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    model = load(arguments.base, arguments.adapter)
    merged = AutoModelForCausalLM.from_pretrained(arguments.merged, dtype=torch.float32) if arguments.merged else None
    worst, effect, merged_worst = 0.0, 0.0, 0.0
    with torch.no_grad():
        for sequence in json.loads(arguments.logits.read_text())["sequences"]:
            ids = torch.tensor([sequence["tokens"]])
            logits = model(input_ids=ids).logits[0]
            theirs = torch.tensor(sequence["logits"])
            if theirs.shape != logits.shape or not theirs.isfinite().all():
                sys.exit(f"logits of shape {list(theirs.shape)}, all finite: {theirs.isfinite().all()}")
            worst = max(worst, (logits - theirs).abs().max().item())
            if merged:
                merged_worst = max(merged_worst, (merged(input_ids=ids).logits[0] - theirs).abs().max().item())
            with model.disable_adapter():
                effect = max(effect, (logits - model(input_ids=ids).logits[0]).abs().max().item())
    distances = {"logitsDistance": worst, "mergedDistance": merged_worst, "adapterEffect": effect}
    print(json.dumps({**distances, "tolerance": arguments.tolerance}))
    if not max(worst, merged_worst) < arguments.tolerance:
        sys.exit(f"logits differ by {worst}, merged by {merged_worst}, allowed are {arguments.tolerance}")
    if not effect > 10 * arguments.tolerance:
        sys.exit(f"the adapter changes logits by {effect} only: this comparison would also pass without it")


if __name__ == "__main__":
    main()
