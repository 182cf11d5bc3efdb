// The honest clients: chat streams that keep asking, and what became of them.
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchServer } from '../bench-server.ts';
import { askStream } from '../stream.ts';

export interface HonestClients {
  /** What has happened since the last call. */
  take(): { readonly ms: readonly number[]; readonly failures: ReadonlyMap<string, number> };
  stop(): Promise<void>;
}

export function startHonestClients(server: BenchServer, streams: number): HonestClients {
  const agent = new Agent({ keepAlive: true, maxSockets: streams });
  let ms: number[] = [];
  let failures = new Map<string, number>();
  let stopped = false;
  async function stayHonest(stream: number): Promise<void> {
    for (let turn = 0; !stopped; turn++) {
      const startMs = performance.now();
      const messages = [{ role: 'user', content: `What is ${stream % 60} + ${turn % 39}?` }];
      const sampling = { max_tokens: 32, ignore_eos: true, temperature: 1, seed: stream * 10_000 + turn };
      const answer = await askStream(server, agent, { messages, ...sampling }).catch((error: Error) => error.message);
      ms.push(performance.now() - startMs);
      const failure =
        typeof answer === 'string'
          ? answer
          : answer.status !== 200
            ? `status ${answer.status}`
            : answer.complete
              ? null
              : 'broken off';
      if (failure === null) continue;
      failures.set(failure, (failures.get(failure) ?? 0) + 1);
      await delay(100);
    }
  }
  const all = Promise.all(Array.from({ length: streams }, (_, stream) => stayHonest(stream)));
  return {
    take() {
      const taken = { ms, failures };
      ms = [];
      failures = new Map();
      return taken;
    },
    async stop() {
      stopped = true;
      await all;
      agent.destroy();
    },
  };
}
