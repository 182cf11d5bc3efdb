// Separates reasoning from the answer in the format that a model's chat template uses, or that the operator chose. The same rule for
// streams and whole answers: the end of the prompt says whether reasoning is open; unfinished reasoning counts as reasoning.
import type { ReasoningParserName } from '#domain/answer-parsers';
import { createHarmonyChannels } from './reasoning-parser/harmony-channels.ts';
import type { ReasoningParser, ThinkingState } from './reasoning-parser/reasoned-text.ts';
import { createUnwrappedAnswer } from './reasoning-parser/unwrapped-answer.ts';
import { createTaggedThinking, type ThinkingTags } from './reasoning-parser/tagged-thinking.ts';

export interface ReasoningSyntax {
  readonly name: string;
  /** As a prompt or an earlier message would contain it. */
  readonly start: string;
  readonly end: string;
  /** Tokens that mark it: they stay in the text, even if the tokenizer calls them special. */
  readonly markers: readonly string[];
  createParser(state: ThinkingState): ReasoningParser;
}

/** `thinksFirst`: an answer starts as reasoning, even if the prompt did not begin it. */
function tagged(
  name: string,
  [starts, ends]: readonly [readonly string[], readonly string[]],
  { layout = 'breaks', thinksFirst = false }: { layout?: ThinkingTags['layout']; thinksFirst?: boolean } = {},
): ReasoningSyntax {
  return {
    name,
    start: starts[0]!,
    end: ends[0]!,
    markers: [...starts, ...ends],
    createParser: (state) =>
      createTaggedThinking({ starts, ends, layout }, thinksFirst && state === 'unsaid' ? 'open' : state),
  };
}

export const THINK = tagged('qwen3', [['<think>'], ['</think>']]);
const DEEPSEEK_R1 = tagged('deepseek_r1', [['<think>'], ['</think>']], { thinksFirst: true });
export const MISTRAL_THINK = tagged('mistral', [['[THINK]'], ['[/THINK]']]);
const SEED = tagged('seed_oss', [['<seed:think>'], ['</seed:think>']]);
const GEMMA4_THOUGHT = tagged('gemma4', [['<|channel>thought'], ['<channel|>']]);
const GRANITE_RESPONSE = { begin: '<response>', end: '</response>' };
const granite = tagged(
  'granite',
  [
    ['Here is my thought process:', "Here's my thought process:", '<think>'],
    ['Here is my response:', "Here's my response:", '</think>'],
  ],
  { layout: 'blanks' },
);
/** Sentences, whose first words models may shorten; from 3.3 on tags, also around the answer. */
export const GRANITE_THOUGHT: ReasoningSyntax = {
  ...granite,
  markers: [...granite.markers, ...Object.values(GRANITE_RESPONSE)],
  createParser: (state) => createUnwrappedAnswer(granite.createParser(state), GRANITE_RESPONSE),
};
export const HARMONY_ANALYSIS: ReasoningSyntax = {
  name: 'openai_gptoss',
  start: '<|channel|>analysis<|message|>',
  end: '<|end|>',
  markers: ['<|start|>', '<|channel|>', '<|constrain|>', '<|message|>', '<|end|>', '<|call|>', '<|return|>'],
  createParser: createHarmonyChannels,
};

const BY_NAME: Readonly<Record<ReasoningParserName, ReasoningSyntax | null>> = {
  qwen3: THINK,
  deepseek_r1: DEEPSEEK_R1,
  mistral: MISTRAL_THINK,
  granite: GRANITE_THOUGHT,
  openai_gptoss: HARMONY_ANALYSIS,
  gemma4: GEMMA4_THOUGHT,
  seed_oss: SEED,
  none: null,
};

export const reasoningSyntaxNamed = (name: ReasoningParserName): ReasoningSyntax | null => BY_NAME[name];

/** Null: the template has no reasoning. */
export function findReasoningSyntax(templateSource: string): ReasoningSyntax | null {
  const has = (...texts: string[]) => texts.every((text) => templateSource.includes(text));
  if (has('<|channel|>', 'analysis')) return HARMONY_ANALYSIS;
  if (has('<|channel>thought')) return GEMMA4_THOUGHT;
  if (has('[/THINK]')) return MISTRAL_THINK;
  if (has('</seed:think>')) return SEED;
  if (has('</think>', '</response>')) return GRANITE_THOUGHT;
  if (has('</think>')) return THINK;
  return has('Here is my thought process:') ? GRANITE_THOUGHT : null;
}

/** `prompt`: rendered up to where the model continues. Only its very end counts for the next turn. */
export function thinkingInPrompt(prompt: string, { start, end }: ReasoningSyntax): ThinkingState {
  const tail = prompt.trimEnd();
  if (tail.endsWith(start)) return 'open';
  return tail.endsWith(end) ? 'closed' : 'unsaid';
}
