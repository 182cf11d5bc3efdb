// Embeddings: texts or token ids in, one vector for each out: the decoder's hidden state at the last token after the final norm,
// normalised to length 1. This is last-token pooling, which embedding models use too; a model that was not trained for embeddings
// gives vectors of unknown quality. Inputs pass the engine's queue like prompts.
import type { GenerateRequest } from '#engine/inference-engine';
import { dayUtcAt } from '#domain/usage';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { AppError } from '#domain/errors';
import type { AnswerDeps, ChatContext } from './answer.ts';
import { checkEmbeddings } from './check-capabilities.ts';
import type { CompletionRequest } from './chat-request.ts';
import { contextOf, readPrompt } from './read-prompt.ts';
import { checkPriority, resolveModel, servingOf, type ChatSettings, type ModelDeps } from './request-serving.ts';
import { roomFor } from './room.ts';
import { generateWithReplay } from './replaying-generation.ts';

export interface EmbeddingRequest extends Pick<
  CompletionRequest,
  'model' | 'addSpecialTokens' | 'truncation' | 'priority' | 'cacheSalt'
> {
  readonly inputs: readonly (string | readonly number[])[];
  /** Keep this many leading numbers, normalised again. Null: all. */
  readonly dimensions: number | null;
}

export interface Embedded {
  readonly servedName: string;
  /** In the order of the inputs. */
  readonly vectors: readonly Float32Array[];
  readonly promptTokenCount: number;
}

/** Throws as chat does. */
export type Embed = (context: ChatContext, request: EmbeddingRequest) => Promise<Embedded>;

export interface EmbeddingsDeps extends AnswerDeps, ModelDeps {
  readonly settings: Pick<ChatSettings, 'priorities'>;
}

/** Inputs of one request in the engine's queue at once: enough to keep it busy while leaving room for other requests. */
const INPUTS_AT_ONCE = 8;
/** An engine always samples at least one token, which is discarded. */
const ANSWER_ROOM = 1;

export function createEmbed({ settings, ...deps }: EmbeddingsDeps): Embed {
  const { clock, log, recordUsage } = deps;
  return async (context, request) => {
    checkPriority(request, settings);
    const model = await resolveModel(deps, context, request.model);
    const { inference, capabilities, text } = model.base;
    checkEmbeddings(capabilities);
    const by = { payer: context.caller.keyId, signal: context.signal };
    const reading = { ...request, name: 'input' as const, answerRoom: ANSWER_ROOM, skipSpecialTokens: false };
    const prompts: (readonly number[])[] = [];
    for (const input of request.inputs) {
      const { tokens } = await readPrompt(model, reading, input, by);
      roomFor(
        { maxTokens: ANSWER_ROOM, maxTokensField: 'input', cutToContext: false },
        tokens.length,
        contextOf(model),
        'input',
      );
      prompts.push(tokens);
    }

    async function embed(promptTokens: readonly number[], index: number): Promise<Float32Array> {
      const generate: GenerateRequest = {
        requestId: prompts.length === 1 ? context.requestId : `${context.requestId}-${index}`,
        promptTokens,
        adapter: model.adapter,
        sampling: { ...PLAIN_SAMPLING, temperature: 0, seed: 0, maxTokens: ANSWER_ROOM, endTokenIds: text.eosTokenIds },
        n: 1,
        constraint: null,
        embed: true,
        ...servingOf(context, request),
      };
      for await (const { prompt } of generateWithReplay(inference, generate, capabilities, log, context.signal))
        if (prompt?.lastHidden) return pooled(prompt.lastHidden, request.dimensions);
      throw new AppError('engine_failed', 'The engine returned no hidden state for this input.');
    }

    const vectors: Float32Array[] = [];
    const left = prompts.entries();
    let computedTokens = 0;
    async function embedSome(): Promise<void> {
      for (const [index, tokens] of left) {
        vectors[index] = await embed(tokens, index);
        computedTokens += tokens.length;
      }
    }
    try {
      await Promise.all(Array.from({ length: Math.min(INPUTS_AT_ONCE, prompts.length) }, embedSome));
    } finally {
      recordUsage({
        ...{ entity: context.caller.entity, keyId: context.caller.keyId, project: context.project },
        ...{ model: model.servedName, dayUtc: dayUtcAt(clock.now()) },
        ...{ promptTokens: computedTokens, cachedTokens: 0, completionTokens: 0 },
      });
    }
    return { servedName: model.servedName, vectors, promptTokenCount: computedTokens };
  };
}

/** Normalised to length 1 over the first `dimensions` numbers. */
function pooled(hidden: readonly number[], dimensions: number | null): Float32Array {
  if (dimensions !== null && dimensions > hidden.length) {
    const message = `dimensions ${dimensions} is more than the ${hidden.length} that this model has.`;
    throw new AppError('invalid_request', message, { param: 'dimensions' });
  }
  const kept = hidden.slice(0, dimensions ?? hidden.length);
  const length = Math.hypot(...kept);
  return Float32Array.from(kept, (value) => (length === 0 ? 0 : value / length));
}
