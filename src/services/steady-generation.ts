// Generation that survives the death of the engine's process. Answers depend on the seed alone, so a new process gives
// the same tokens again: those already passed on are skipped, and the client sees nothing but a pause.
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { GenerateRequest, GenerationStream, InferenceEngine, TokenEvent } from '#engine/inference-engine';

const ATTEMPTS_MAX = 3; // a request that kills its engine must not do so for ever

/** `request.sampling.seed` is not null. */
export function generateSteadily(
  engine: InferenceEngine,
  request: GenerateRequest,
  log: Log,
  signal: AbortSignal,
): GenerationStream {
  const passedOn: number[][] = Array.from({ length: request.n }, () => []);
  const over = new Set<number>(); // choices that finished or were cancelled
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
          const known = passedOn[choiceIndex]![at];
          if (known === undefined) {
            passedOn[choiceIndex]!.push(tokenId);
            if (finishReason !== null) over.add(choiceIndex);
            yield event;
          } else if (known !== tokenId) {
            throw new AppError('engine_failed', 'The engine was restarted and could not repeat its answer.');
          }
        }
        return;
      } catch (error) {
        const lostEngine = error instanceof AppError && error.code === 'engine_unavailable';
        if (!lostEngine || attempt === ATTEMPTS_MAX || signal.aborted) throw error;
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
