// A worker, configured by its process's environment, that is asked to stop: it waits for its calls as long as a server would.
import { expect, onTestFinished, test, vi } from 'vitest';
import { readWorkerModel } from '#engine/workers/worker-model';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { runWorker } from '../../../src/server/run-worker.ts';
import { BOOTSTRAP_KEY, openTestServer } from '../../support/api/test-server.ts';
import { request, sampling } from '../../support/contract/inference-engine.ts';

test('WHETSTONE_DRAIN_SECONDS is how long a stopping worker waits for its streams', async () => {
  vi.stubEnv('WHETSTONE_DRAIN_SECONDS', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await openTestServer();
  onTestFinished(() => server.close());
  const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
  const { inference } = server.workers.host(await readWorkerModel('its/name', STARTER_DIRECTORY));
  const stopping = new AbortController();
  const model = { model: 'whetstone/starter', modelId: 'its/name' }; // --model-id: here it has another name than at the server
  const over = runWorker({ url, key: BOOTSTRAP_KEY, ...model, roles: ['sample'], name: 'w' }, stopping.signal);

  const isThere = () => expect(server.workers.list()).toHaveLength(1);
  await Promise.race([over, vi.waitFor(isThere, { timeout: 90_000 })]);

  const asked = request({ sampling: sampling({ maxTokens: 200 }) });
  const stream = inference.generate(asked, AbortSignal.timeout(90_000))[Symbol.asyncIterator]();
  await stream.next(); // it is sampling
  stopping.abort();
  const rest = async () => {
    while (!(await stream.next()).done);
  };
  await expect(rest()).rejects.toMatchObject({ code: 'engine_unavailable' });
  await over;
}, 120_000);
