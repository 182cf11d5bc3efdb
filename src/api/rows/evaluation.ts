// The evaluation settings of a job: wire → domain. Reading an evaluation is in evaluation-answers.ts.
import { z } from 'zod';
import type { EvaluationPrompt, ReadEvaluationLine } from '#domain/evaluation';
import { parseArtifactUri } from '#services/artifacts/artifact-name';
import type { RequestedEvaluation } from '#services/evaluations/accept-evaluation';
import { isObject } from '#base/is-object';
import { parseJson } from '../http/json-body.ts';
import { integer, list, number, union } from '../http/lax.ts';
import { message, tool } from './message.ts';
import { seed } from './seed.ts';
import { unknownFields } from '../http/unknown-fields.ts';
import { parse, refuse, ValidationError } from '../http/validation.ts';

/** Only a sanity check: the server's setting limits how many prompts are answered. */
const PROMPTS_MAX = 100_000;
const MESSAGES_MAX = 2_000;
const TOOLS_MAX = 2_000;
const STOPS_MAX = 16;
const DEFAULT_MAX_TOKENS = 512;

const tools = list(tool, TOOLS_MAX).nullish();

const promptRow = z.looseObject({
  messages: list(message, MESSAGES_MAX).meta({
    description:
      "If the last message is the assistant's, it is not shown to the model: it becomes the `reference` of the prompt.",
  }),
  tools,
  metadata: z.unknown().optional().meta({ type: 'object', description: 'Returned with the answers.' }),
});

const settings = z.looseObject({
  prompts: list(promptRow, PROMPTS_MAX).nullish().meta({ description: 'The prompts; alternatively, `prompts_url`.' }),
  prompts_url: z.string().nullish().meta({
    description:
      '`wandb-artifact:///entity/project/name:version`. A file of this artifact has one prompt per line, in the same format.',
  }),
  file: z.string().min(1).nullish().meta({
    description:
      'The file of the artifact. Default: prompts.jsonl, val.jsonl, validation.jsonl, test.jsonl, or the only .jsonl.',
  }),
  samples: integer({ ge: 1 }).nullish().meta({ description: 'Number of answers per prompt. Default 1.' }),
  max_tokens: integer({ ge: 1 })
    .nullish()
    .meta({ description: `Maximum number of tokens in an answer. Default ${DEFAULT_MAX_TOKENS}.` }),
  temperature: number({ ge: 0 })
    .nullish()
    .meta({ description: "Sampling temperature. 0 is greedy. Default: the model's, as in chat." }),
  top_p: number({ gt: 0, le: 1 }).nullish().meta({ description: "Default: the model's, as in chat." }),
  stop: union({ str: z.string().min(1), 'list[str]': z.array(z.string().min(1)).max(STOPS_MAX) }).nullish(),
  seed: seed.meta({
    type: ['integer', 'null'],
    description:
      'Default 0: every checkpoint draws the same random numbers. Answer i of prompt p samples with seed + p · samples + i.',
  }),
  tools: tools.meta({ description: 'Tools for prompts that have none of their own.' }),
  chat_template_kwargs: z.looseObject({}).nullish().meta({ description: 'Variables for the chat template.' }),
});

/** Part of the body of a job. */
export const evaluation = settings.nullish().meta({
  description:
    'Prompts that are not trained on. The new checkpoint answers them; you send rewards for the answers to the log endpoint.',
});

export interface ReadEvaluation {
  readonly evaluation: RequestedEvaluation | null;
  readonly warnings: readonly string[];
}

/** Throws ValidationError. */
export function readEvaluation(wire: z.output<typeof evaluation>): ReadEvaluation {
  if (!wire) return { evaluation: null, warnings: [] };
  const { prompts, prompts_url: url, file = null } = wire;
  const has = (value: unknown) => value !== null && value !== undefined;
  if (has(prompts) === has(url))
    refuse(['body', 'evaluation'], 'needs either prompts or prompts_url', { prompts_url: url ?? null });
  if (has(file) && !has(url)) refuse(['body', 'evaluation', 'file'], 'needs prompts_url', file);
  const artifact = has(url) ? parseArtifactUri(url) : null;
  if (has(url) && !artifact)
    refuse(['body', 'evaluation', 'prompts_url'], 'must look like wandb-artifact:///entity/project/name:version', url);
  const inline = (prompts ?? []).map((row, i) => {
    const read = toPrompt(row);
    if ('problem' in read) refuse(['body', 'evaluation', 'prompts', i, 'messages'], read.problem, row.messages.length);
    return read.prompt;
  });
  return {
    evaluation: {
      prompts: artifact ? { artifact, path: file ?? null } : inline,
      tools: nonEmpty(wire.tools),
      settings: {
        samples: wire.samples ?? 1,
        maxTokens: wire.max_tokens ?? DEFAULT_MAX_TOKENS,
        temperature: wire.temperature ?? null,
        topP: wire.top_p ?? null,
        stop: typeof wire.stop === 'string' ? [wire.stop] : (wire.stop ?? []),
        seed: wire.seed ?? 0,
        chatTemplateKwargs: wire.chat_template_kwargs ?? {},
      },
    },
    warnings: unknownFields(settings, wire, 'evaluation.'),
  };
}

export const readEvaluationLine: ReadEvaluationLine = (text) => {
  try {
    return toPrompt(parse(promptRow, parseJson(text), 'body'));
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const problems = error.items
      .slice(0, 3)
      .map(({ loc, msg }) => [loc.slice(1).join('.'), msg].filter(Boolean).join(': '));
    return { problem: problems.join('; ') };
  }
};

function toPrompt({ messages, tools: own, metadata }: z.output<typeof promptRow>): ReturnType<ReadEvaluationLine> {
  const last = messages.at(-1);
  const reference = last?.role === 'assistant' ? last : null;
  const asked = reference ? messages.slice(0, -1) : messages;
  if (asked.length === 0) return { problem: 'must contain a message that can be answered' };
  const prompt: EvaluationPrompt = {
    messages: asked,
    tools: nonEmpty(own),
    reference,
    metadata: isObject(metadata) ? metadata : {},
  };
  return { prompt };
}

const nonEmpty = <T>(items: readonly T[] | null | undefined): readonly T[] | null =>
  items && items.length > 0 ? items : null;
