// Beam search over an engine that samples: each step asks for one token after every beam, with its most likely alternatives,
// and keeps the best. Beams share their prompts through the engine's prefix cache. Nothing is sampled, so temperature does not apply, and the
// API refuses penalties and stop strings.
// A finished beam's score is its log-probability / length^penalty, not counting the end token, as in Transformers; vLLM 0.32 counts the
// tokens of the prompt too, and arXiv:1609.08144 §7 has another denominator.
import { AppError } from '#domain/errors';
import { PLAIN_SAMPLING } from '#domain/sampling';
import type {
  GenerateRequest,
  GenerationStream,
  PromptReport,
  TokenEvent,
  TokenLogprob,
} from '#engine/inference-engine';

interface Beam {
  readonly tokens: readonly Omit<TokenEvent, 'choiceIndex'>[];
  readonly logprob: number;
  readonly ended: boolean;
}

const START: Beam = { tokens: [], logprob: 0, ended: false };

/** `n` beams; their events come once all are complete, best beam first. */
export function searchBeams(
  generate: (request: GenerateRequest) => GenerationStream,
  request: GenerateRequest,
  { lengthPenalty }: { lengthPenalty: number },
): GenerationStream {
  if (request.constraint)
    throw new AppError('invalid_request', 'Beam search cannot follow a constraint. Send only one of the two.', {
      param: 'use_beam_search',
    });
  const { n: width, sampling } = request;
  const { stopTokenIds, topLogprobs, promptLogprobs, maxTokens } = sampling;
  const candidates = 2 * width; // at most half of them end here
  let report: PromptReport | null = null;

  async function next(beam: Beam): Promise<Beam[]> {
    const tokens = beam.tokens.map(({ tokenId }) => tokenId);
    const step: GenerateRequest = {
      ...request,
      n: 1,
      promptTokens: [...request.promptTokens, ...tokens],
      sampling: {
        ...PLAIN_SAMPLING,
        ...{ temperature: 0, maxTokens: 1, topLogprobs: Math.max(candidates, topLogprobs) },
        promptLogprobs: beam === START ? promptLogprobs : null,
      },
    };
    for await (const event of generate(step)) {
      report ??= event.prompt ?? null;
      return event.topLogprobs.slice(0, candidates).map((best) => extend(beam, best, event));
    }
    return [];
  }

  function extend(beam: Beam, { tokenId, logprob }: TokenLogprob, { topLogprobs: listed }: TokenEvent): Beam {
    const ended = stopTokenIds.includes(tokenId);
    const finishReason = ended ? 'stop' : beam.tokens.length + 1 === maxTokens ? 'length' : null;
    const token = { tokenId, logprob, topLogprobs: listed.slice(0, topLogprobs), finishReason } as const;
    return { tokens: [...beam.tokens, token], logprob: beam.logprob + logprob, ended };
  }

  function score({ tokens, logprob, ended }: Beam): number {
    return logprob / Math.max(1, ended ? tokens.length - 1 : tokens.length) ** lengthPenalty;
  }

  async function search(): Promise<Beam[]> {
    let open: Beam[] = [START];
    const complete: Beam[] = [];
    for (let length = 0; length < maxTokens && open.length > 0; length++) {
      const extended = (await Promise.all(open.map(next))).flat().sort((a, b) => b.logprob - a.logprob);
      complete.push(...extended.filter(({ ended }) => ended).slice(0, candidates));
      complete.sort((a, b) => score(b) - score(a)).splice(candidates); // no more than this can be selected
      open = extended.filter(({ ended }) => !ended).slice(0, width);
    }
    return [...complete, ...open].sort((a, b) => score(b) - score(a)).slice(0, width);
  }

  const cancelled = new Set<number>();
  async function* events(): AsyncGenerator<TokenEvent> {
    const beams = await search();
    for (const [choiceIndex, { tokens }] of beams.entries()) {
      for (const [i, token] of tokens.entries()) {
        if (cancelled.has(choiceIndex)) break;
        yield { choiceIndex, ...token, ...(choiceIndex === 0 && i === 0 && report ? { prompt: report } : {}) };
      }
    }
  }
  return { [Symbol.asyncIterator]: () => events(), cancelChoice: (index) => void cancelled.add(index) };
}
