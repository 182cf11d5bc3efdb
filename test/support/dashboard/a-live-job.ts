// A server with its pages, and a job whose gradient steps happen when a test says so: the events of training are appended as the
// job runner appends them, and nothing is computed.
import { fileURLToPath } from 'node:url';
import type { AddressInfo } from 'node:net';
import { openDashboard } from '#api/description/dashboard';
import { createId } from '#base/ids';
import { endJob, submitEvaluated } from '../api/evaluation-lab.ts';
import { register } from '../api/registered-model.ts';
import { openTestServer, type TestServer } from '../api/test-server.ts';

const DIST = fileURLToPath(new URL('../../../dist/dashboard/', import.meta.url));
const METRICS = ['loss', 'reward', 'kl', 'entropy', 'grad_norm', 'learning_rate', 'ratio_max', 'clipped', 'tokens'];

export interface LiveJob {
  readonly server: TestServer;
  readonly url: string;
  /** The running job. */
  readonly id: string;
  /** Takes so many gradient steps more. */
  step(count: number): Promise<void>;
  /** A job of another model ends, and makes a checkpoint. */
  endAnother(modelId: string, metrics: Readonly<Record<string, number>>): Promise<void>;
  close(): Promise<void>;
}

export async function openLiveJob(): Promise<LiveJob> {
  const server = await openTestServer({ dashboard: await openDashboard(DIST) });
  const { storage, jobEvents, clock } = server;
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  const modelId = await register(server, 'live');
  const id = await submitEvaluated(server, modelId, EVALUATION);
  await storage.jobs.claim('w', clock.now(), 1_000_000, null);
  let steps = 0;
  return {
    server,
    url: `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}/`,
    id,
    async step(count) {
      for (const last = steps + count; steps < last; steps++) {
        const data = Object.fromEntries(METRICS.map((name, at) => [name, Math.sin(steps / (10 + at))]));
        const event = { id: createId(), jobId: id, ordinal: steps, type: 'gradient_step' as const };
        await storage.events.append({
          ...event,
          data: { gradient_step: steps + 1, ...data },
          createdAtMs: clock.now(),
        });
      }
      jobEvents.notify(id);
    },
    async endAnother(of, metrics) {
      const other = await submitEvaluated(server, of, EVALUATION);
      await endJob(server, other, metrics);
      jobEvents.notify(other);
    },
    close: () => server.close(),
  };
}

/** Never answered here. */
const EVALUATION = { prompts: [{ messages: [{ role: 'user', content: 'Anybody?' }] }], samples: 1, max_tokens: 1 };
