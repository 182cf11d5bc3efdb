// Trajectory groups as RL clients send them → domain/trajectory.ts. Bodies run to hundreds of megabytes, nearly all of
// it token logprobs: those are read by hand in one pass. Clients' extra keys are accepted everywhere.
import { z } from 'zod';
import type { History, SampledTurn, TokenLogprob, Trajectory, TrajectoryGroup, Turn } from '#domain/trajectory';
import { integer, NOT_FINITE, number } from './lax.ts';
import { message, tool } from './message.ts';

const tokenLogprobsSchema = {
  type: ['object', 'null'],
  properties: {
    content: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        properties: { token: { type: 'string', description: '`token_id:N`, or the text of the token' }, logprob: { type: ['number', 'null'] } },
        required: ['token', 'logprob'],
      },
    },
    refusal: { type: ['array', 'null'] },
  },
} as const; // prettier-ignore

const logprobs = z
  .unknown()
  .optional()
  .transform((value, ctx) => readLogprobs(value, ctx))
  .meta({ ...tokenLogprobsSchema });

const tokenIds = z.array(z.int().min(0)).nullish();

const choice = z
  .looseObject({
    message: z.looseObject({ role: z.string().default('assistant') }),
    finish_reason: z.string().nullish(),
    index: integer().nullish(),
    logprobs,
    token_ids: tokenIds,
    prompt_token_ids: tokenIds,
  })
  .transform((wire, ctx): SampledTurn => {
    const said = message.safeParse(wire.message);
    if (!said.success) {
      for (const issue of said.error.issues) ctx.addIssue({ ...issue, path: ['message', ...issue.path] });
      return z.NEVER;
    }
    return {
      kind: 'sampled',
      message: said.data,
      finishReason: wire.finish_reason ?? 'stop',
      logprobs: wire.logprobs,
      tokenIds: wire.token_ids ?? null,
      promptTokenIds: wire.prompt_token_ids ?? null,
    };
  });

/** A Choice has a `message` and no role of its own; anything else must be a message. */
const turn = z
  .unknown()
  .transform((value, ctx): Turn => {
    const isChoice = typeof value === 'object' && value !== null && 'message' in value && !('role' in value);
    const read = isChoice ? choice.safeParse(value) : message.safeParse(value);
    if (!read.success) {
      for (const issue of read.error.issues) ctx.addIssue({ ...issue });
      return z.NEVER;
    }
    return 'kind' in read.data && isChoice
      ? (read.data as SampledTurn)
      : { kind: 'message', message: read.data as never };
  })
  .meta({
    type: 'object',
    description: 'A chat message (context), or a Choice of a chat answer with its logprobs (trained).',
  });

const historyFields = { messages_and_choices: z.array(turn), tools: z.array(tool).nullish() };

const history = z.looseObject(historyFields);

const metricValue = z.union([z.boolean(), number()]);
const metrics = z.record(z.string(), metricValue).nullish();

const trajectory = z
  .looseObject({
    ...historyFields,
    additional_histories: z.array(history).nullish(),
    reward: number(),
    metrics,
    auto_metrics: metrics,
  })
  .transform((wire): Trajectory => ({
    histories: [wire, ...(wire.additional_histories ?? [])].map(toHistory),
    reward: wire.reward,
    metrics: { ...wire.auto_metrics, ...wire.metrics },
  }));

export const trajectoryGroup = z
  .looseObject({
    trajectories: z.array(trajectory),
    exceptions: z
      .array(z.unknown())
      .nullish()
      .meta({ description: 'Failed rollouts: they count for exception_rate only.' }),
    metrics,
  }) // prettier-ignore
  .transform((wire): TrajectoryGroup => ({
    trajectories: wire.trajectories,
    exceptionCount: wire.exceptions?.length ?? 0,
    metrics: wire.metrics ?? {},
  }));

const toHistory = ({ messages_and_choices, tools }: z.output<typeof history>): History => ({
  turns: messages_and_choices,
  tools: tools && tools.length > 0 ? tools : null,
});

/** `refusal` holds the tokens when the content is empty. Null: the turn carries none. */
function readLogprobs(value: unknown, ctx: z.core.$RefinementCtx): readonly TokenLogprob[] | null {
  if (value === undefined || value === null) return null;
  const complain = (path: (string | number)[], type: string, msg: string) => {
    ctx.addIssue({ code: 'custom', path, message: msg, params: { complaint: { type, msg } } });
    return null;
  };
  if (typeof value !== 'object' || Array.isArray(value))
    return complain([], 'dict_type', 'Input should be a valid dictionary');
  const { content, refusal } = value as { content?: unknown; refusal?: unknown };
  const field = isEmpty(content) && !isEmpty(refusal) ? 'refusal' : 'content';
  const tokens = field === 'content' ? content : refusal;
  if (tokens === undefined || tokens === null) return null;
  if (!Array.isArray(tokens)) return complain([field], 'list_type', 'Input should be a valid list');
  const read: TokenLogprob[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const item = tokens[i] as { token?: unknown; logprob?: unknown } | null;
    if (typeof item !== 'object' || item === null)
      return complain([field, i], 'dict_type', 'Input should be a valid dictionary');
    if (typeof item.token !== 'string')
      return complain([field, i, 'token'], 'string_type', 'Input should be a valid string');
    const { logprob } = item;
    if (typeof logprob === 'number') read.push({ token: item.token, logprob });
    else if (logprob === null || NOT_FINITE.has(logprob)) read.push({ token: item.token, logprob: null });
    else if (logprob === undefined) return complain([field, i, 'logprob'], 'missing', 'Field required');
    else return complain([field, i, 'logprob'], 'float_type', 'Input should be a valid number');
  }
  return read;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
