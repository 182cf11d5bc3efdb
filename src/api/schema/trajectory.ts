// Trajectory groups as RL clients send them → domain/trajectory.ts. Clients' extra keys are accepted everywhere.
import { z } from 'zod';
import type { History, SampledTurn, Trajectory, TrajectoryGroup, Turn } from '#domain/trajectory';
import { integer, number } from './lax.ts';
import { message, tool } from './message.ts';
import { tokenLogprobs } from './token-logprobs.ts';

const tokenIds = z.array(z.int().min(0)).nullish();

const choice = z
  .looseObject({
    message: z.looseObject({ role: z.string().default('assistant') }),
    finish_reason: z.string().nullish(),
    index: integer().nullish(),
    logprobs: tokenLogprobs,
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
      // An empty list says nothing about what was sampled.
      tokens: nonEmpty(wire.token_ids) ?? nonEmpty(wire.logprobs?.tokens),
      logprobs: nonEmpty(wire.logprobs?.logprobs),
      promptTokenIds: wire.prompt_token_ids ?? null,
    };
  });

/** A Choice has a `message` and no role of its own; anything else must be a message. */
export const turn = z
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

const nonEmpty = <T>(list: readonly T[] | null | undefined): readonly T[] | null =>
  list && list.length > 0 ? list : null;
