// The sampling defaults of a model's makers, from generation_config.json.
import { AppError } from '#domain/errors';
import type { Json } from './tokenizer-files.ts';

/** Null: the file has none. */
export interface GenerationDefaults {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly minP: number | null;
  readonly repetitionPenalty: number | null;
  readonly maxNewTokens: number | null;
}

interface Range {
  readonly words: string;
  has(value: number): boolean;
}

const from = (least: number, most: number): Range => ({
  words: `a number from ${least} to ${most}`,
  has: (value) => value >= least && value <= most,
});
const ABOVE_ZERO: Range = { words: 'a number above 0', has: (value) => value > 0 };
const wholeFrom = (least: number): Range => ({
  words: `a whole number of at least ${least}`,
  has: (value) => Number.isSafeInteger(value) && value >= least,
});

/** Throws `bad_model_files`: a default that no request may have is a mistake, and would be in every answer. */
export function readGenerationDefaults(generation: Json, directory: string): GenerationDefaults {
  const number = (key: string, range: Range): number | null => {
    const value = generation[key] ?? null;
    if (value === null) return null;
    if (typeof value === 'number' && range.has(value)) return value;
    const got = typeof value === 'object' ? 'an object or list' : JSON.stringify(value).slice(0, 100);
    throw new AppError(
      'bad_model_files',
      `${directory}/generation_config.json: ${key} must be ${range.words}, got ${got}. Correct it, or remove it.`,
    );
  };
  return {
    temperature: number('temperature', from(0, 100)),
    topP: number('top_p', from(0, 1)),
    topK: number('top_k', wholeFrom(-1)),
    minP: number('min_p', from(0, 1)),
    repetitionPenalty: number('repetition_penalty', ABOVE_ZERO),
    maxNewTokens: number('max_new_tokens', wholeFrom(1)),
  };
}
