// Generation that survives the loss of the engine. If answers depend only on the seed, the next engine repeats the same tokens: those
// already delivered are skipped, and the client notices only a pause. If the engine does not promise that, only an answer that has
// not begun is requested again.
import pRetry from 'p-retry';
import type { Log } from '#base/log';
import { createNumberList } from '#base/number-list';
import type { Constraint } from '#domain/constraint';
import { AppError } from '#domain/errors';
import type { EngineCapabilities } from '#engine/capabilities';
import { EngineLost } from '#engine/engine-lost';
import type { GenerateRequest, GenerationStream, InferenceEngine, TokenEvent } from '#engine/inference-engine';

// A request that kills its engine must not do so forever.
const ATTEMPTS_MAX = 3;

/** `request.sampling.seed` is not null. Not p-retry: an attempt delivers events while it runs. */
export function generateWithReplay(
  engine: InferenceEngine,
  request: GenerateRequest,
  { exactReplay }: Pick<EngineCapabilities, 'exactReplay'>,
  log: Log,
  signal: AbortSignal,
): GenerationStream {
  const passedOn = Array.from({ length: request.n }, () => createNumberList(Int32Array));
  const over = new Set<number>(); // choices that have finished or were cancelled
  let stream: GenerationStream | null = null;

  async function* events(): AsyncGenerator<TokenEvent> {
    for (let attempt = 1; ; attempt++) {
      const replayed = passedOn.map(() => 0);
      try {
        stream = engine.generate(request, signal);
        for (const choice of over) stream.cancelChoice(choice);
        for await (const event of stream) {
          const { choiceIndex, tokenId, finishReason } = event;
          if (over.has(choiceIndex)) continue;
          const at = replayed[choiceIndex]!++;
          const known = passedOn[choiceIndex]!;
          if (at === known.length) {
            known.push(tokenId);
            if (finishReason !== null) over.add(choiceIndex);
            yield event;
          } else if (known.at(at) !== tokenId) {
            throw new AppError('engine_failed', 'The engine was restarted and could not repeat its answer.');
          }
        }
        return;
      } catch (error) {
        const lostEngine = error instanceof AppError && error.code === 'engine_unavailable';
        if (!lostEngine || attempt === ATTEMPTS_MAX || signal.aborted) throw error;
        if (!exactReplay && passedOn.some((tokens) => tokens.length > 0)) throw error;
        log.warn('chat.restarted', { requestId: request.requestId, attempt, reason: error.message });
      }
    }
  }

  return {
    [Symbol.asyncIterator]: () => events(),
    cancelChoice(choiceIndex) {
      over.add(choiceIndex);
      stream?.cancelChoice(choiceIndex);
    },
  };
}

/** The next process compiles what was lost with the previous one. */
export async function prepareWithRetry(
  engine: InferenceEngine,
  constraint: Constraint,
  { payer, signal }: { readonly payer: string; readonly signal: AbortSignal },
): Promise<void> {
  await pRetry(() => engine.prepare(constraint, payer, signal), {
    retries: ATTEMPTS_MAX - 1,
    minTimeout: 0,
    shouldRetry: ({ error }) => error instanceof EngineLost,
  });
}
