// Trajectory groups as RL clients send them → domain/trajectory.ts. Extra keys are accepted everywhere; those of groups, trajectories and
// histories are noted beside what was made of them, for the warnings.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { nonEmpty } from '#base/non-empty';
import { pythonFormsWithin } from '#base/python-form';
import { stringifySentJson } from '#base/sent-json';
import type { ChatMessage } from '#domain/chat';
import type { History, SampledTurn, Trajectory, TrajectoryGroup, Turn } from '#domain/trajectory';
import { integer, list, number, record } from '#validation/lax';
import { historiesOf, isRecorded } from './exchanges.ts';
import { message, tool } from './message.ts';
import { groupNotes, metadata, trajectoryNotes } from './notes.ts';
import { tokenLogprobs } from './token-logprobs.ts';
import { withoutNulls } from './without-nulls.ts';
import { readAhead } from '#validation/read-ahead';
import { check } from '#validation/parse';
import { sentFields, unknownNames } from '#validation/unknown-fields';

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Checked by hand if valid: a prompt has a hundred thousand of them, and a schema takes much longer for each. */
const tokenIds = readAhead(z.array(z.int().min(0)).nullish(), (value) =>
  Array.isArray(value) && value.every(isId) ? (value as number[]) : null,
);

const choice = z
  .looseObject({
    message: z.looseObject({ role: z.string().default('assistant') }),
    finish_reason: z.string().nullish(),
    index: integer().nullish(),
    logprobs: tokenLogprobs,
    token_ids: tokenIds,
    prompt_token_ids: tokenIds,
    policy_step: integer({ ge: 0 }).nullish().describe('The step of the model that sampled it, as in chat answers.'),
    answer_id: z
      .string()
      .max(1_000)
      .nullish()
      .describe('Id of the answer that the choice is from: its tokens are found by it.'),
  })
  .transform((wire, ctx): SampledTurn => {
    const parsed = check(message, wire.message);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) ctx.addIssue({ ...issue, path: ['message', ...issue.path] });
      return z.NEVER;
    }
    return {
      kind: 'sampled',
      message: parsed.data,
      finishReason: wire.finish_reason ?? 'stop',
      // An empty list has no information about the sampled tokens.
      tokens: nonEmpty(wire.token_ids) ?? nonEmpty(wire.logprobs?.tokens),
      logprobs: nonEmpty(wire.logprobs?.logprobs),
      promptTokenIds: nonEmpty(wire.prompt_token_ids),
      ...(wire.answer_id ? { answer: { id: wire.answer_id, index: wire.index ?? 0 } } : {}),
      ...(typeof wire.policy_step === 'number' ? { policyStep: wire.policy_step } : {}),
      ...(isNamedCall(wire.finish_reason, parsed.data) ? { isConstrained: true as const } : {}),
    };
  })
  .meta({ title: 'Choice' });

/** Only a tool call that the client forced ends in `stop`; one that the model chose ends in `tool_calls`. */
const isNamedCall = (finish: string | null | undefined, { tool_calls: calls }: ChatMessage): boolean =>
  finish === 'stop' && calls !== null && calls !== undefined && calls.length > 0;

/** A Choice has a `message` and no role of its own; anything else must be a message. */
const turn = z
  .unknown()
  .transform((value, ctx): Turn => {
    const isChoice = isObject(value) && 'message' in value && !('role' in value);
    const read = isChoice ? check(choice, value) : check(message, value);
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
    description:
      'A chat message (context, not trained on), or a Choice of a chat answer with its logprobs (trained on).',
  });

/** Without ids, each turn's prompt is rendered from all previous messages, so the work grows with the square of their number. */
const MESSAGES_MAX = 2_000;
/** As in a chat request. */
const TOOLS_MAX = 2_000;
/** Each history has its own turns: a trajectory is checked in one step. */
const HISTORIES_MAX = 1_000;

const historyFields = { messages_and_choices: list(turn, MESSAGES_MAX), tools: list(tool, TOOLS_MAX).nullish() };

const history = z.looseObject(historyFields).meta({ title: 'History' });

/** A history that was checked before its trajectory. */
class CheckedHistory {
  readonly history: z.output<typeof history>;
  readonly #wire: unknown;
  constructor(checked: z.output<typeof history>, wire: unknown) {
    this.history = checked;
    this.#wire = wire;
  }
  /** The value as sent, for answers that report an error next to it. */
  toJSON(): unknown {
    return this.#wire;
  }
}

const readHistory = readAhead(history, (value) => (value instanceof CheckedHistory ? value.history : null));

/** Without values that are null: many clients write a NaN, which was not measured, as null. */
const metrics = record(z.union([z.boolean(), number()]).nullable())
  .transform((sent) => withoutNulls(sent) as Record<string, number | boolean>)
  .nullish();

const logs = z.array(z.string()).nullish();

/** What nothing reads of a group or a trajectory, by the object that was made of it. */
const unread = new WeakMap<object, readonly string[]>();

/** Of one object: whoever reads warnings needs no more. */
const UNREAD_MAX = 20;

function noteUnread(read: object, fields: readonly string[]): void {
  if (fields.length > 0) unread.set(read, [...new Set(fields)].slice(0, UNREAD_MAX));
}

const unreadIn = (wire: object, known: { readonly shape: object }, at = ''): string[] =>
  unknownNames(known, sentFields(wire)).map((name) => `${at}${name}`);

/** Fields of a request's groups that nothing reads, each once, as `trajectories[].rewards`. */
export const unreadFields = (groups: readonly TrajectoryGroup[]): string[] => [
  ...new Set(groups.flatMap((group) => [group, ...group.trajectories].flatMap((each) => unread.get(each) ?? []))),
];

const trajectoryShape = z.looseObject({
  ...historyFields,
  exchanges: z.unknown().optional().meta({
    type: 'object',
    description:
      'Instead of messages_and_choices: the calls that ART’s recorder kept (chat_completions, completions, responses, messages). They become histories.',
  }),
  additional_histories: list(readHistory, HISTORIES_MAX)
    .nullish()
    .describe('Other conversations that share the reward.'),
  reward: number().default(0).describe('Default: 0, for clients that omit zeros.'),
  metrics,
  auto_metrics: metrics.describe('Metrics measured by a client library.'),
  metadata,
  initial_policy_version: integer().nullish(),
  final_policy_version: integer().nullish(),
  logs,
  start_time: z.iso.datetime({ offset: true, local: true }).nullish(),
});

const trajectoryFields = trajectoryShape
  .transform((wire): Trajectory => {
    const others = wire.additional_histories ?? [];
    const read: Trajectory = {
      histories: [wire, ...others].map(toHistory),
      reward: wire.reward,
      metrics: { ...wire.auto_metrics, ...wire.metrics },
      ...trajectoryNotes(wire),
    };
    const ofOthers = others.flatMap((other) => unreadIn(other, history, 'trajectories[].additional_histories[].'));
    noteUnread(read, [...unreadIn(wire, trajectoryShape, 'trajectories[].'), ...ofOthers]);
    return read;
  })
  .meta({ title: 'Trajectory' });

const trajectory = z.preprocess(withHistories, trajectoryFields);

/** Recorded calls become histories. */
function withHistories(value: unknown, ctx: z.RefinementCtx): unknown {
  if (!isObject(value)) return value;
  const refuse = (path: readonly (string | number)[], msg: string, type = 'value_error') => {
    ctx.addIssue({ code: 'custom', input: value, path: [...path], message: msg, params: { complaint: { type, msg } } });
    return z.NEVER;
  };
  const { exchanges, messages_and_choices: turns, additional_histories: more } = value;
  if (!isRecorded(exchanges)) {
    if (turns !== undefined) return value;
    return refuse(
      ['messages_and_choices'],
      'Field required: send messages_and_choices, or exchanges with calls',
      'missing',
    );
  }
  if ([turns, more].some((sent) => Array.isArray(sent) && sent.length > 0))
    return refuse(['exchanges'], 'Send either messages_and_choices or exchanges: the turns would be trained twice.');
  const read = historiesOf(exchanges);
  if ('message' in read) return refuse(['exchanges', ...read.path], read.message);
  const [main, ...others] = read;
  return { ...value, ...main!, additional_histories: others };
}

/** A trajectory that was checked before its body. */
export class CheckedTrajectory {
  readonly trajectory: Trajectory;
  constructor(trajectory: Trajectory) {
    this.trajectory = trajectory;
  }
}

/** Null: invalid; the schema of the body reports the errors. All histories together take a tenth of a second: other requests are served between them. */
export async function checkTrajectory(
  value: unknown,
  yieldToLoop: () => Promise<void>,
): Promise<CheckedTrajectory | null> {
  await checkHistories(value, yieldToLoop);
  const read = check(trajectory, value);
  return read.success ? new CheckedTrajectory(read.data) : null;
}

/** In place, those before the first invalid one. */
async function checkHistories(wire: unknown, yieldToLoop: () => Promise<void>): Promise<void> {
  const histories = isObject(wire) ? wire['additional_histories'] : null;
  if (!Array.isArray(histories) || histories.length > HISTORIES_MAX) return;
  for (const [i, each] of (histories as unknown[]).entries()) {
    const read = check(history, each);
    if (!read.success) return;
    histories[i] = new CheckedHistory(read.data, each);
    await yieldToLoop();
  }
}

const readTrajectory = readAhead(trajectory, (value) => (value instanceof CheckedTrajectory ? value.trajectory : null));

const groupShape = z.looseObject({
  trajectories: z.array(readTrajectory).describe('Answers to the same prompt, each with its reward.'),
  exceptions: z.array(z.unknown()).nullish().describe('Failed rollouts. They count only toward exception_rate.'),
  metrics,
  metadata,
  logs,
});

export const trajectoryGroup = groupShape
  .transform((wire): TrajectoryGroup => {
    const read: TrajectoryGroup = {
      trajectories: wire.trajectories,
      exceptionCount: wire.exceptions?.length ?? 0,
      metrics: wire.metrics ?? {},
      ...groupNotes(wire),
    };
    noteUnread(read, unreadIn(wire, groupShape));
    return read;
  })
  .meta({ title: 'TrajectoryGroup' });

function toHistory({ messages_and_choices: turns, tools: sent }: z.output<typeof history>): History {
  const tools = nonEmpty(sent);
  const hasForms = pythonFormsWithin(tools).size > 0;
  return { turns, tools, ...(hasForms ? { toolsText: stringifySentJson(tools) } : {}) };
}
