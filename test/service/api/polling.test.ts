// Clients that poll as real ones do: without a limit, keeping their cursor after training_started, and the older ones
// ignore has_more. New events appear between the pages.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { EventType } from '#domain/training-job';
import { BASE, shareTestServer, send } from '../../support/api/test-server.ts';

const GRADIENT_STEPS = 47;

interface Events {
  data: { id: string; type: EventType; data: Record<string, number> }[];
  has_more: boolean;
}

const server = await shareTestServer();

async function startJob() {
  const body = { project: 'p', name: createId(), base_model: BASE };
  const { id: modelId } = (await send(server, { url: '/v1/preview/models', body })).json<{ id: string }>();
  const id = createId();
  await server.storage.jobs.create({
    id,
    type: 'rl',
    modelId,
    entity: 'default',
    keyId: 'k',
    bodyBlob: 'b',
    createdAtMs: 1,
  });
  let ordinal = 0;
  /** Some more events, up to training_ended. */
  const advance = async (events: number) => {
    for (; events > 0 && ordinal <= GRADIENT_STEPS + 1; events--, ordinal++) {
      const type = ordinal === 0 ? 'training_started' : ordinal > GRADIENT_STEPS ? 'training_ended' : 'gradient_step';
      const data = ordinal === 0 ? { num_sequences: GRADIENT_STEPS } : { gradient_step: ordinal };
      await server.storage.events.append({ id: createId(), jobId: id, ordinal, type, data, createdAtMs: ordinal });
    }
  };
  return { url: `/v1/preview/training-jobs/${id}/events`, advance };
}

/** All pages of one poll, as the client library pages through them. */
async function* pages(url: string, after: string | null, ignoresHasMore: boolean, between: () => Promise<void>) {
  for (;;) {
    const page = (await send(server, { url: after === null ? url : `${url}?after=${after}` })).json<Events>();
    yield* page.data;
    const last = page.data.at(-1);
    if (last === undefined || (!ignoresHasMore && !page.has_more)) return;
    after = last.id;
    await between();
  }
}

test.each([true, false])(
  'a client that ignores has_more (%s) sees each gradient step once, in order',
  async (ignores) => {
    const { url, advance } = await startJob();
    let appeared = 0;
    const steps: number[] = [];
    let cursor: string | null = null;
    let started = 0;
    for (let ended = false, polls = 0; !ended; polls++) {
      expect(polls).toBeLessThan(50);
      const poll = pages(url, cursor, ignores, () => advance(appeared++ % 3));
      for await (const { id, type, data } of poll) {
        if (type === 'training_started') {
          started++;
          continue; // the cursor stays: this event is returned again until there is a step
        }
        expect(started).toBeGreaterThan(0);
        if (type === 'gradient_step') steps.push(data['gradient_step']!);
        ended = type === 'training_ended';
        if (ended) break;
        cursor = id;
      }
      await advance(polls < 2 ? polls : 13); // nothing, then only the start, then more than half a page at a time
    }
    expect(started).toBeGreaterThan(1);
    expect(steps).toEqual(Array.from({ length: GRADIENT_STEPS }, (_, i) => i + 1));
  },
);
