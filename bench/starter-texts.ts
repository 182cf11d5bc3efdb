// Conversations that the starter has not seen, for measuring the effect of quantization.
import { readFileSync } from 'node:fs';
import { createRandom } from '#base/random';
import { tokenizeConversation } from '../scripts/starter/make-corpus.ts';
import { createStarterEncoder, parseVocabulary } from '../scripts/starter/model-files.ts';
import { SKILLS } from '../scripts/starter/world/world.ts';

export const STARTER = 'models/starter';
export const CONTEXT = 1024;
const CONVERSATIONS_PER_SKILL = 60;
const SEED = 30_000; // differs from the corpus's

export interface Text {
  readonly tokens: readonly number[];
  /** Whether the prediction of this token is measured. */
  readonly isMeasured: (index: number) => boolean;
}

export function starterTexts(): Text[] {
  const encode = createStarterEncoder(parseVocabulary(readFileSync(`${STARTER}/tokenizer.json`, 'utf8')));
  const random = createRandom(SEED);
  return SKILLS.flatMap((skill, i) =>
    Array.from({ length: CONVERSATIONS_PER_SKILL }, () => {
      const { tokens, weights } = tokenizeConversation(encode, skill.converse(random), i);
      return { tokens: tokens.slice(0, CONTEXT), isMeasured: (index: number) => weights[index] === 1 };
    }),
  );
}
