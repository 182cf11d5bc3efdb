"""A training client of the unmodified Tinker SDK, driven by another program: python train_along.py URL KEY MODEL RANK SEED RATE.

Each line of JSON on stdin is a batch, [{"tokens", "targets", "weights"}…]. The script calls forward_backward and optim_step with it
and prints the loss as a line. When stdin ends, it saves the state as `end` and prints the id of the run as the last line.
"""

import json
import sys

import tinker
from tinker import types

url, key, model, rank, seed, rate = sys.argv[1:]
service = tinker.ServiceClient(base_url=url, api_key=f"tml-{key}")
client = service.create_lora_training_client(base_model=model, rank=int(rank), seed=int(seed))
adam = types.AdamParams(learning_rate=float(rate))


def datum(given: dict[str, list[float]]) -> types.Datum:
    return types.Datum(
        model_input=types.ModelInput.from_ints(given["tokens"]),
        loss_fn_inputs={"target_tokens": given["targets"], "weights": given["weights"]},
    )


for line in sys.stdin:
    forward = client.forward_backward([datum(given) for given in json.loads(line)], "cross_entropy")
    step = client.optim_step(adam)
    print(json.dumps(forward.result().metrics["loss:sum"]), flush=True)
    step.result()
print(json.dumps(client.save_state("end").result().path.split("/")[2]), flush=True)
