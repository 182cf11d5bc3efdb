// SFT jobs and their rows: wire ↔ domain.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { ReadSftRow, SftConfigInput, SftRow } from '#domain/sft';
import { parseJson } from '../http/json-body.ts';
import {
  batchFields,
  batchSize,
  datasetJobFields,
  problemOf,
  rates,
  readBatchConfig,
  readDatasetJob,
} from './dataset-job.ts';
import { boolean } from '../http/lax.ts';
import { message, tool } from './message.ts';
import { turn } from './trajectory.ts';
import { unknownFields } from '../http/unknown-fields.ts';
import { parse } from '../http/validation.ts';

const wireConfig = z.looseObject({
  batch_size: batchSize.meta({
    description:
      'Number of rows per gradient step, packed or not; `auto` is 2. The last batch of an epoch may have fewer.',
  }),
  learning_rate: rates.meta({
    description:
      'One number, or one per batch of all epochs. Default: by the hidden size of the base model, the lower of 5e-4 · (2000 / hidden)^0.781 and ' +
      '5e-4 · (2000 / hidden)^0.0775 (fitted for LoRA in the cookbook of "LoRA Without Regret"), or 5e-5 where that size is not known. ' +
      'The config of the job has the number.',
  }),
  ...batchFields,
  assistant_turns: z
    .enum(['all', 'last'])
    .nullish()
    .meta({ description: 'Which assistant turns are trained on. Default all.' }),
  metric_logging: z.looseObject({ enabled: boolean().nullish() }).nullish().meta({
    description:
      'If enabled, each gradient step adds a line to the run named like the model, with the prefix `sft/`, and the metrics of the last step become metrics of the checkpoint, as `sft/NAME`.',
  }),
});

const config = wireConfig.transform((wire): { config: SftConfigInput; warnings: readonly string[] } => {
  const config = {
    ...readBatchConfig(wire),
    ...(wire.assistant_turns ? { assistantTurns: wire.assistant_turns } : {}),
    ...(wire.metric_logging?.enabled ? { logsMetrics: true } : {}),
  };
  return { config, warnings: unknownFields(wireConfig, wire, 'config.') };
});

export const createSftJob = z.looseObject({ ...datasetJobFields, config: config.nullish() });

export const readSftJob = (raw: unknown) => readDatasetJob<SftConfigInput>(createSftJob, raw);

const tools = z.array(tool).nullish();

/** `{"messages": […], "tools": […]?}`, or a trajectory whose Choices count as messages. */
const row = z.union([
  z.looseObject({ messages: z.array(message).min(1), tools }),
  z
    .looseObject({ messages_and_choices: z.array(turn).min(1), tools })
    .transform(({ messages_and_choices, ...rest }) => ({
      ...rest,
      messages: messages_and_choices.map((t) => t.message),
    })),
]);

export function readSftLine(text: string): ReadSftRow {
  try {
    const value = parseJson(text);
    if (isPreference(value))
      return { problem: 'is a preference pair, not a conversation: send it to a DPO job (dpo-training-jobs)' };
    return checked(parse(rowSchemaOf(value), value, 'body'));
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

const isPreference = (value: unknown): boolean =>
  isObject(value) && !('messages' in value) && ('chosen' in value || 'preferred_output' in value);

/** Whether a line is a pair rather than a conversation, valid or not. */
export function isPreferenceLine(text: string): boolean {
  try {
    return isPreference(parseJson(text));
  } catch {
    return false;
  }
}

/** The format that the row is meant to have, so that only its errors are reported. */
const rowSchemaOf = (value: unknown) =>
  isObject(value) && 'messages_and_choices' in value ? row.options[1] : row.options[0];

function checked({ messages, tools: given }: z.output<typeof row>): ReadSftRow {
  if (messages.at(-1)!.role !== 'assistant') {
    return {
      problem: `the last message must have the role assistant, because it is what is learnt, not ${messages.at(-1)!.role}`,
    };
  }
  const result: SftRow = { messages, tools: given && given.length > 0 ? given : null };
  return { row: result };
}
