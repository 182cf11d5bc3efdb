"""Calls a hostile server (test/support/clients/hostile-server.ts) as its attacks say, and prints how each call ended, as JSON lines."""

import asyncio
import json
import sys
from pathlib import Path

from whetstone_client import AsyncClient

MESSAGES = [{"role": "user", "content": "Hi"}]


async def call(client: AsyncClient, verb: str, scratch: Path) -> None:
    if verb == "artifact":
        await client.get_artifact("e/p/n:v0")
    elif verb == "pull":
        await client.pull_artifact("e/p/n:v0", scratch / "a" / "b")
    elif verb == "checkpoint":
        (scratch / "a").mkdir(exist_ok=True)
        await client.download_checkpoint("m", 1, scratch / "a" / "b.tar")
    elif verb == "stream":
        [piece async for piece in client.chat_stream(MESSAGES)]
    elif verb == "list":
        [job async for job in client.list_training_jobs()]
    else:
        await client.follow("j", deadline_s=20)


async def main() -> None:
    for number, attack in enumerate(json.loads(sys.argv[1])):
        scratch = Path(sys.argv[2]) / str(number)
        scratch.mkdir()
        kind, said = None, ""
        limits = {"timeout_s": 0.5} if attack["isSlow"] else {}
        try:
            async with AsyncClient(attack["url"], "wk-secret", answer_bytes_max=1_000_000, **limits) as client:
                await call(client, attack["verb"], scratch)
        except Exception as error:
            kind, said = type(error).__name__, str(error)
        files = [str(path) for path in scratch.rglob("*") if path.is_file()]
        print(json.dumps({"kind": kind, "said": said, "files": files}), flush=True)


asyncio.run(main())
