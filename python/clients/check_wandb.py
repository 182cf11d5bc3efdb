"""The wandb library, unmodified, against a running server: a run with its configuration and points is resumed and read back.

python check_wandb.py SERVER_URL KEY; prints "ok". Called by test/python/clients/wandb.test.ts.
"""

import math
import os
import sys
import tempfile

server, key = sys.argv[1:3]
directory = tempfile.mkdtemp()
for name in ("WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_CONFIG_DIR", "WANDB_DIR"):
    os.environ[name] = directory
os.environ.update(
    NETRC=os.path.join(directory, "netrc"), WANDB_BASE_URL=server, WANDB_API_KEY=key, WANDB_SILENT="true"
)

import wandb  # noqa: E402

POINTS = 10_000
NAME = f"run-{os.getpid()}"  # unique, because the server may have earlier runs

run = wandb.init(project="scripts", id=NAME, name="shown", resume="allow", config={"lr": 0.1, "layers": [1, 2]}, tags=["a"])
assert (run.entity, run.project, run.name) == ("default", "scripts", "shown")
run.define_metric("loss", step_metric="training_step")
for step in range(POINTS):
    run.log({"loss": float("nan") if step == 3 else 1 / (step + 1), "training_step": step})
run.config.update({"more": 2})
run.summary["best"] = 7
run.finish()

run = wandb.init(project="scripts", id=NAME, resume="must")
assert run.config["more"] == 2, dict(run.config)
run.log({"loss": 0.5})
run.finish()

api = wandb.Api()
read = api.run(f"default/scripts/{NAME}")
assert (read.name, read.state, read.tags) == ("shown", "finished", ["a"])
assert read.config == {"lr": 0.1, "layers": [1, 2], "more": 2}, read.config
assert (read.summary["best"], read.summary["loss"]) == (7, 0.5)
losses = [row["loss"] for row in read.scan_history(keys=["loss"])]
assert len(losses) == POINTS + 1, len(losses)
assert [math.isnan(float(loss)) for loss in losses].count(True) == 1
assert losses[:2] == [1, 0.5] and losses[9_999] == 1 / 10_000 and losses[-1] == 0.5
shown = read.history(samples=100, pandas=False)
assert (len(shown), shown[0]["_step"], shown[-1]["_step"]) == (100, 0, POINTS), shown[-1]
runs = api.runs("default/scripts")
assert len(runs) >= 1 and NAME in [each.id for each in runs]
assert NAME in [each.id for each in api.runs("default/scripts", filters={"state": "finished"}, order="-created_at")]
assert NAME not in [each.id for each in api.runs("default/scripts", filters={"state": "running"})]

run = wandb.init(project="scripts", id=f"{NAME}-sparse")
for step in range(0, 1_001, 100):  # every page of a scan begins at a step that was logged
    run.log({"train": {"loss": step}, "text": "x" * (150_000 if step == 500 else 1)}, step=step)
run.finish()
sparse = api.run(f"default/scripts/{NAME}-sparse")
rows = list(sparse.scan_history(page_size=100))
assert [row["_step"] for row in rows] == list(range(0, 1_001, 100)), rows
assert rows[5]["text"].startswith("not stored"), rows[5]["text"][:100]
assert [row["_step"] for row in sparse.scan_history(min_step=100, max_step=300)] == [100, 200]
assert [row["train.loss"] for row in sparse.history(keys=["train.loss"], pandas=False)] == list(range(0, 1_001, 100))
sparse.name, sparse.tags = "renamed", ["b"]
sparse.config["late"] = 1
sparse.summary["best"] = 2
sparse.update()
again = wandb.Api().run(f"default/scripts/{NAME}-sparse")
assert (again.name, again.tags, again.config, again.state) == ("renamed", ["b"], {"late": 1}, "finished"), again
assert again.summary["best"] == 2, again.summary
again.delete()

try:
    api.run("default/scripts/nowhere").config  # noqa: B018
    raise AssertionError("a missing run was read")
except (ValueError, wandb.errors.CommError) as error:
    assert "nowhere" in str(error), error

run = wandb.init(project="scripts", id=f"{NAME}-failed")
run.finish(exit_code=3)
assert api.run(f"default/scripts/{NAME}-failed").state == "failed"

project = api.project("scripts", entity="default")
assert project.id and project.name == "scripts"
print("ok")
