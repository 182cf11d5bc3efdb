// DPO jobs and their rows: wire ↔ domain. A row is a preference pair: in TRL's conversational format, with a prompt of its own or as the
// shared prefix of both answers, or in OpenAI's format.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { ChatMessage } from '#domain/chat';
import { PREFERENCE_LOSSES, type DpoConfigInput, type PreferencePair, type ReadPreferencePair } from '#domain/dpo';
import { HELD_OUT_METRICS } from '#domain/sft';
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
import { number } from '../http/lax.ts';
import { message, tool } from './message.ts';
import { unknownFields } from '../http/unknown-fields.ts';
import { parse, refuse } from '../http/validation.ts';

const wireConfig = z.looseObject({
  batch_size: batchSize.meta({
    description: 'Number of pairs per gradient step; `auto` is 8. The last batch of an epoch may have fewer.',
  }),
  learning_rate: rates.meta({
    description:
      'One number, or one per batch of all epochs. Default: a twentieth of what an SFT job of the same model would take, as 1e-6 and 2e-5 are the ' +
      'defaults of TRL for both. The config of the job has the number.',
  }),
  beta: number({ gt: 0, le: 1_000 }).nullish().meta({
    description:
      'How strongly the policy is kept close to the reference, which is the checkpoint that the job starts from. Higher is closer. Default 0.1. For ipo it is τ of the paper.',
  }),
  loss_type: z.enum(PREFERENCE_LOSSES).nullish().meta({
    description:
      'As in TRL: `sigmoid` (default; arXiv:2305.18290 eq. 7), `robust` (arXiv:2403.00409), `hinge` (arXiv:2305.10425), or `ipo` (arXiv:2310.12036, on means over tokens).',
  }),
  label_smoothing: number({ ge: 0, le: 0.49 }).nullish().meta({
    description: 'Assumed fraction of pairs with a wrong label, for sigmoid (conservative DPO) and robust. Default 0.',
  }),
  ...batchFields,
  metric_for_best_model: z.enum(HELD_OUT_METRICS).nullish().meta({
    description: 'The metric of the held-out pairs by which evaluations are compared. Default `val/loss`.',
  }),
});

const config = wireConfig.transform((wire): { config: DpoConfigInput; warnings: readonly string[] } => {
  const { beta, loss_type: lossType, label_smoothing: labelSmoothing, metric_for_best_model: bestMetric } = wire;
  const config = {
    ...readBatchConfig(wire),
    ...(bestMetric ? { bestMetric } : {}),
    ...(typeof beta === 'number' ? { beta } : {}),
    ...(lossType ? { lossType } : {}),
    ...(typeof labelSmoothing === 'number' ? { labelSmoothing } : {}),
  };
  return { config, warnings: unknownFields(wireConfig, wire, 'config.') };
});

export const createDpoJob = z.looseObject({ ...datasetJobFields, config: config.nullish() });

export function readDpoJob(raw: unknown) {
  const job = readDatasetJob<DpoConfigInput>(createDpoJob, raw);
  const { lossType = 'sigmoid', labelSmoothing = 0 } = job.config;
  if (labelSmoothing > 0 && (lossType === 'hinge' || lossType === 'ipo')) {
    const reason = `label_smoothing belongs to the losses sigmoid and robust, not to ${lossType}: leave it out, or send another loss_type`;
    refuse(['body', 'config', 'label_smoothing'], reason, labelSmoothing);
  }
  return job;
}

const messages = z.array(message).min(1);
const tools = z.array(tool).nullish();

const ROWS = {
  explicit: z.looseObject({ prompt: messages, chosen: messages, rejected: messages, tools }),
  implicit: z
    .looseObject({ prompt: z.string().nullish(), chosen: messages, rejected: messages, tools })
    .transform(({ chosen, rejected, ...rest }) => ({ ...rest, ...sharedBeginning(chosen, rejected) })),
  openai: z
    .looseObject({
      input: z.looseObject({ messages, tools }),
      preferred_output: messages,
      non_preferred_output: messages,
    })
    .transform(({ input, preferred_output: chosen, non_preferred_output: rejected }) => ({
      prompt: input.messages,
      chosen,
      rejected,
      tools: input.tools,
    })),
};

export function readPreferencePair(text: string): ReadPreferencePair {
  try {
    const value = parseJson(text);
    return isImplicit(value) ? readImplicit(value) : checked(parse(explicitRow(value), value, 'body'));
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

/** The format that the row is meant to have, so that only its errors are reported. */
const explicitRow = (value: unknown) =>
  isObject(value) && ('input' in value || 'preferred_output' in value) ? ROWS.openai : ROWS.explicit;

/** No prompt, or its text in addition to whole conversations, as many data sets have it. */
const isImplicit = (value: unknown): boolean =>
  isObject(value) && 'chosen' in value && (typeof value['prompt'] === 'string' || !value['prompt']);

function readImplicit(value: unknown): ReadPreferencePair {
  const { prompt: text, shared, ...row } = parse(ROWS.implicit, value, 'body');
  const isSaid = shared.some(({ content }) => content === text);
  if (typeof text === 'string' && text !== '' && !isSaid) {
    return {
      problem: `prompt is a text that is not in the messages: send it as messages, [{"role": "user", "content": "…"}]`,
    };
  }
  if (shared.length === 0) {
    return {
      problem: 'chosen and rejected do not begin with the same message, and there is no prompt: send its messages',
    };
  }
  return checked({ ...row, prompt: shared });
}

/** The shared prefix of both conversations; it leaves at least one message to each answer. */
function sharedBeginning(chosen: readonly ChatMessage[], rejected: readonly ChatMessage[]) {
  const most = Math.min(chosen.length, rejected.length) - 1;
  let at = 0;
  while (at < most && isDeepStrictEqual(chosen[at], rejected[at])) at++;
  return { shared: chosen.slice(0, at), chosen: chosen.slice(at), rejected: rejected.slice(at) };
}

interface WirePair extends Pick<PreferencePair, 'prompt' | 'chosen' | 'rejected'> {
  readonly tools?: PreferencePair['tools'] | undefined;
}

function checked({ prompt, chosen, rejected, tools: given }: WirePair): ReadPreferencePair {
  for (const [name, answer] of Object.entries({ chosen, rejected })) {
    const [first, last] = [answer[0]!.role, answer.at(-1)!.role];
    if (first !== 'assistant')
      return {
        problem: `${name} begins with a message of the role ${first}, but an answer must begin with an assistant message: move the messages before it to prompt`,
      };
    if (last !== 'assistant')
      return {
        problem: `${name} ends with a message of the role ${last}, but the last message must be the assistant's`,
      };
  }
  if (isDeepStrictEqual(chosen, rejected)) return { problem: 'chosen and rejected are the same: nothing is preferred' };
  return { row: { prompt, chosen, rejected, tools: given && given.length > 0 ? given : null } };
}
