// The evaluation settings of a job: wire → domain. Reading an evaluation is in evaluation-answers.ts.
import { z } from 'zod';
import { nonEmpty } from '#base/non-empty';
import { createUnusedOfPrompts, promptRow, toPrompt, tools } from '#rows/evaluation';
import { parseArtifactUri } from '#services/artifacts/artifact-name';
import type { RequestedEvaluation } from '#domain/evaluation';
import { integer, list, number, union } from '#validation/lax';
import { refuse } from '#validation/parse';
import { seed } from '#validation/seed';
import { unknownFields } from '#validation/unknown-fields';
import { asSent } from '#validation/read-ahead';

/** Only a sanity check: the server's setting limits how many prompts are answered. */
const PROMPTS_MAX = 100_000;
const STOPS_MAX = 16;
const DEFAULT_MAX_TOKENS = 512;

const settings = z
  .looseObject({
    prompts: list(promptRow, PROMPTS_MAX).nullish().describe('The prompts; alternatively, `prompts_url`.'),
    prompts_url: z
      .string()
      .nullish()
      .describe(
        '`wandb-artifact:///entity/project/name:version`. A file of this artifact has one prompt per line, in the same format.',
      ),
    file: z
      .string()
      .min(1)
      .nullish()
      .describe(
        'The file of the artifact. Default: prompts.jsonl, val.jsonl, validation.jsonl, test.jsonl, or the only .jsonl.',
      ),
    samples: integer({ ge: 1 }).nullish().describe('Number of answers per prompt. Default 1.'),
    max_tokens: integer({ ge: 1 })
      .nullish()
      .describe(`Maximum number of tokens in an answer. Default ${DEFAULT_MAX_TOKENS}.`),
    temperature: number({ ge: 0 })
      .nullish()
      .describe("Sampling temperature. 0 is greedy. Default: the model's, as in chat."),
    top_p: number({ gt: 0, le: 1 }).nullish().describe("Default: the model's, as in chat."),
    stop: union({ str: z.string().min(1), 'list[str]': z.array(z.string().min(1)).max(STOPS_MAX) }).nullish(),
    seed: seed.meta({
      type: ['integer', 'null'],
      description:
        'Default 0: every checkpoint draws the same random numbers. Answer i of prompt p samples with seed + p · samples + i.',
    }),
    tools: tools.describe('Tools for prompts that have none of their own.'),
    chat_template_kwargs: asSent(z.looseObject({})).nullish().describe('Variables for the chat template.'),
  })
  .meta({ title: 'EvaluationRequest' });

/** Part of the body of a job. */
export const evaluation = settings
  .nullish()
  .describe(
    'Prompts that are not trained on. The new checkpoint answers them; you send rewards for the answers to the log endpoint.',
  );

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
  const unused = createUnusedOfPrompts();
  const inline = (prompts ?? []).map((row, i) => {
    const read = toPrompt(row);
    if ('problem' in read) refuse(['body', 'evaluation', 'prompts', i, 'messages'], read.problem, row.messages.length);
    unused.note(read.unused);
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
    warnings: [...unknownFields(settings, wire, 'evaluation.'), ...unused.warnings()],
  };
}
