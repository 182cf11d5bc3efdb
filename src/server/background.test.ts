import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import { createMemoryBlobs } from '#storage/blobs/memory';
import type { ServerConfig } from '#config/server-config';
import { noObserver } from '../../test/support/a-job-runner.ts';
import { openStorageInMemory } from '../../test/support/storage-in-memory.ts';
import { createJobEvents } from '#services/jobs/job-events';
import { createLiveResponses } from '#services/responses/live-responses';
import { startBackground, type BackgroundParts } from './background.ts';
import { createCloseStack } from './close-stack.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A server with only this role, which hosts no model. */
async function startRole(role: 'serve' | 'train', clear: () => void): Promise<void> {
  const storage = await openStorageInMemory();
  const sampled: readonly never[] = [];
  const hosted = { trainers: new Map(), runTrainers: new Map(), trainingEngines: [], sampled: () => sampled };
  const tinker = { sampling: { clear }, saves: {}, runEvents: createJobEvents() };
  const services = { tinker, jobEvents: createJobEvents(), liveResponses: createLiveResponses(), chat: {} };
  const config = {
    roles: [role],
    databaseUrl: null,
    dataDirectory: '/nowhere',
    jobs: { saveEveryMs: 1_000 },
    stop: {},
  };
  const parts = { storage, blobs: createMemoryBlobs(), hosted, services, observer: noObserver };
  const open = createCloseStack();
  await startBackground(
    config as unknown as ServerConfig,
    { ...parts, clock: systemClock, log: silentLog } as unknown as BackgroundParts,
    open,
  );
  onTestFinished(async () => {
    await open.closeAll();
    await storage.close();
  });
}

test('a server that samples drops Tinker’s old samples every minute', async () => {
  const clear = vi.fn();
  await startRole('serve', clear);
  expect(clear).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(10 * 60_000);
  expect(clear).toHaveBeenCalledTimes(11);
});
