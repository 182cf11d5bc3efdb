// Turns the sampling fields of a request, and the model's own defaults where they are missing, into SamplingParams.
import { randomInt } from 'node:crypto';
import { TimeLimitError, withinMs } from '#base/time-limit';
import { AppError } from '#domain/errors';
import type { SamplingParams } from '#domain/sampling';
import type { TextModel } from '#text/text-model';
import type { Tokenizer } from '#text/tokenizer';
import type { GenerationOptions } from './chat-request.ts';

/** `room`: remaining tokens of the context. `logprobsMax`: alternatives per token; −1 for no limit. */
export function samplingParams(
  { sampling, output }: Pick<GenerationOptions, 'sampling' | 'output'>,
  { generationDefaults: defaults, eosTokenIds, tokenizer }: TextModel,
  room: number,
  logprobsMax: number,
): SamplingParams {
  const maxTokens = Math.min(room, sampling.maxTokens ?? defaults.maxNewTokens ?? room);
  if (sampling.minTokens > maxTokens) {
    const message = `min_tokens (${sampling.minTokens}) is more than the ${maxTokens} tokens that the answer may have.`;
    throw new AppError('invalid_request', message, { param: 'min_tokens' });
  }
  checkLogprobs(output.topLogprobsField, output.topLogprobs, logprobsMax);
  checkLogprobs('prompt_logprobs', output.promptLogprobs ?? 0, logprobsMax);
  const ends = [...new Set([...eosTokenIds, ...sampling.stopTokenIds])];
  return {
    temperature: sampling.temperature ?? defaults.temperature ?? 1,
    topP: sampling.topP ?? defaults.topP ?? 1,
    topK: Math.max(0, sampling.topK ?? defaults.topK ?? 0), // some models write −1 for off
    minP: sampling.minP ?? defaults.minP ?? 0,
    repetitionPenalty: sampling.repetitionPenalty ?? defaults.repetitionPenalty ?? 1,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    logitBias: sampling.logitBias,
    allowedTokenIds: sampling.allowedTokenIds,
    badWords: badWordTokens(sampling.badWords, tokenizer),
    // Drawn here and not by the engine, so that a generation can be repeated after a restart.
    seed: sampling.seed ?? randomInt(2 ** 47),
    maxTokens,
    minTokens: sampling.minTokens,
    stopTokenIds: sampling.ignoreEos ? [...new Set(sampling.stopTokenIds)] : ends,
    endTokenIds: ends,
    topLogprobs: output.logprobTokenIds ? 0 : output.topLogprobs,
    logprobTokenIds: output.logprobTokenIds,
    thinkingBudget: null,
    promptLogprobs: output.promptLogprobs,
  };
}

function checkLogprobs(param: string, count: number, limit: number): void {
  if (limit === -1 || (count >= 0 && count <= limit)) return;
  const asked = count < 0 ? 'the whole vocabulary' : String(count);
  throw new AppError(
    'invalid_request',
    `${param} asks for ${asked}; this server returns at most ${limit} (--max-logprobs).`,
    { param },
  );
}

/** A tokenizer's own patterns may backtrack without end on a word made for them. */
const WORDS_MS = 200;

function badWordTokens(words: readonly string[], tokenizer: Tokenizer): number[][] {
  if (words.length === 0) return [];
  try {
    return withinMs(WORDS_MS, () => words.flatMap((word, index) => wordTokens(word, index, tokenizer)));
  } catch (error) {
    if (!(error instanceof TimeLimitError)) throw error;
    const message = `Encoding bad_words took longer than ${WORDS_MS} ms. Send fewer or shorter words.`;
    throw new AppError('invalid_request', message, { param: 'bad_words', cause: error });
  }
}

/** The word alone, and after a space if that tokenizes to the same number of tokens: vLLM's rule. */
function wordTokens(word: string, index: number, tokenizer: Tokenizer): number[][] {
  const bare = tokenizer.encode(word.trimStart());
  if (bare.length === 0) {
    const message = `bad_words.${index} (${JSON.stringify(word)}) is no word: spaces before a word do not count. Leave it out, or forbid its tokens with logit_bias.`;
    throw new AppError('invalid_request', message, { param: 'bad_words' });
  }
  const spaced = tokenizer.encode(` ${word.trimStart()}`);
  const isOther = spaced.length === bare.length && spaced[0] !== bare[0];
  return isOther ? [bare, spaced] : [bare];
}
