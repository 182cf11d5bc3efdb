// What every sampling worker must do while its server acknowledges nothing (docs/worker-protocol.md, section 2): it buffers no more
// than it may, stops sampling, and later continues where it was. Run against each worker; knows none of them.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TokenEvent } from '#engine/inference-engine';
import { collect, request, sampling } from '../contract/inference-engine.ts';
import { withholdAcknowledgements } from './withheld-acknowledgements.ts';
import type { WorkerLab } from './worker-lab.ts';

/** Options that a lab must be opened with: a window for a tenth of the answers below. */
export const LITTLE_ROOM = { unackedBytesMax: 512 << 10 };
/** Allowance for what was in flight when the window was full: vLLM joins the tokens for which its reader was late. */
const OVERSHOOT_BYTES = 512 << 10;
/** If nothing arrives for so long, the worker waits. Longer than an engine keeps an unread stream before it gives its slot to another. */
const STILL_MS = 3_000;
const SOON = { timeout: 240_000, interval: 50 };

/** Every token with a hundred alternatives, so that a few hundred fill the window. */
const CHOICES = 4;
const TOKENS = 480;
const large = () => request({ n: CHOICES, sampling: sampling({ maxTokens: TOKENS, topLogprobs: 100 }) });

export function backPressureContract(name: string, open: () => Promise<WorkerLab>): void {
  describe(`${name}: a server that acknowledges nothing`, () => {
    let lab: WorkerLab;
    beforeAll(async () => {
      lab = await open();
    });
    afterAll(() => lab.close());

    test('makes the worker wait with a bounded number of unacknowledged bytes, and loses no token', async () => {
      expect(await collect(lab.inference, request())).toHaveLength(1);
      const withheld = withholdAcknowledgements(lab.sockets()[0]!);
      const events: TokenEvent[] = [];
      const answer = (async () => {
        for await (const event of lab.inference.generate(large(), AbortSignal.timeout(SOON.timeout)))
          events.push(event);
      })();
      await vi.waitFor(() => expect(withheld.unackedBytes).toBeGreaterThan(LITTLE_ROOM.unackedBytesMax), SOON);
      await untilStill(() => events.length);
      expect(withheld.unackedBytes).toBeLessThan(LITTLE_ROOM.unackedBytesMax + OVERSHOOT_BYTES);
      expect(events.length).toBeLessThan((CHOICES * TOKENS) / 2);

      withheld.release();
      await answer;
      const countOf = (choice: number) => events.filter(({ choiceIndex }) => choiceIndex === choice).length;
      expect([0, 1, 2, 3].map(countOf)).toEqual([TOKENS, TOKENS, TOKENS, TOKENS]);
      expect(lab.workers.list()).toMatchObject([{ state: 'connected', reconnects: 0 }]);
    });
  });
}

async function untilStill(count: () => number): Promise<void> {
  for (let before = -1; before !== count();) {
    before = count();
    await new Promise((resolve) => setTimeout(resolve, STILL_MS));
  }
}
