// The first messages of a connection: what a worker reports about itself, and what the server answers (docs/worker-protocol.md,
// section 1). Decides whether a worker fits a model; knows no connection.
import { z } from 'zod';
import { CONSTRAINT_KINDS, type ConstraintKind } from '#domain/constraint';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';

import { PRECISIONS, SAMPLING_SWITCHES, type SamplingSwitch } from '../capabilities.ts';
import { PLAIN_TRAINER } from './shared-capabilities.ts';

const PROTOCOL = WORKER_PROTOCOL.version;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hex');
const Name = z.string().min(1).max(200);
const Count = z.int().min(1);
/** Limited because the server holds the rows of one call in memory. */
const ROWS_AT_ONCE_MAX = 1024;

/** Longer lists are refused before their items are read: each wrong item costs a message. */
const NAMES_MAX = 100;

/** A list as long as that says how long it is; the items of others are read. */
const shortList = <T extends z.ZodType>(item: T) =>
  z
    .unknown()
    .refine((list) => !Array.isArray(list) || list.length <= NAMES_MAX, {
      message: `has more than ${NAMES_MAX} entries`,
      abort: true,
    })
    .pipe(z.array(item));

/** Ignores capabilities that only newer workers have, and options that only they can lack: this server sends neither. */
const SamplerAble = z.object({
  exactReplay: z.boolean(),
  exactLogprobs: z.boolean().default(false),
  constraints: shortList(z.string()).transform((kinds): readonly ConstraintKind[] =>
    CONSTRAINT_KINDS.filter((kind) => kinds.includes(kind)),
  ),
  promptLogprobs: z.boolean(),
  headAdapters: z.boolean().optional(),
  precision: z.enum(PRECISIONS),
  unsupportedSampling: shortList(z.string()).transform((names): readonly SamplingSwitch[] =>
    SAMPLING_SWITCHES.filter((name) => names.includes(name)),
  ),
});

const TrainerAble = z.object({
  exactTraining: z.boolean().default(PLAIN_TRAINER.exactTraining),
  exactLogprobs: z.boolean().default(PLAIN_TRAINER.exactLogprobs),
  sharedPrefixRows: z.boolean().default(PLAIN_TRAINER.sharedPrefixRows),
  keepsGradients: z.boolean().default(PLAIN_TRAINER.keepsGradients),
});

const Limits = z.object({
  contextLength: Count,
  rowLengthMax: Count,
  memory: z.object({
    budgetBytes: z.number().min(0),
    fixedBytes: z.number().min(0),
    bytesPerToken: z.number().min(0),
    bytesPerPair: z.number().min(0),
    bytesPerRank: z.number().min(0).optional(),
    headBytesPerRank: z.number().min(0).optional(),
  }),
});

export const Hello = z
  .object({
    kind: z.literal('hello'),
    protocol: z.int(),
    worker: z.object({ id: Name, name: Name, version: Name }),
    session: z.object({ id: Name, received: z.int().min(0) }).nullable(),
    model: z.object({ id: Name, configSha256: Sha256, tokenizerSha256: Sha256 }),
    roles: shortList(z.enum(['sample', 'train']))
      .refine((roles) => roles.length > 0, 'is empty')
      .readonly(),
    sampler: z
      .object({
        contextLength: Count,
        vocabSize: Count,
        sequencesMax: Count,
        adaptersMax: Count,
        capabilities: SamplerAble,
      })
      .nullable(),
    trainer: z
      .object({
        limits: Limits,
        capabilities: TrainerAble.default(PLAIN_TRAINER),
        rowsAtOnce: Count.max(ROWS_AT_ONCE_MAX).default(1),
      })
      .nullable(),
  })
  .refine(({ roles, sampler }) => !roles.includes('sample') || sampler !== null, {
    path: ['sampler'],
    message: 'is missing: the role sample needs it',
  })
  .refine(({ roles, trainer }) => !roles.includes('train') || trainer !== null, {
    path: ['trainer'],
    message: 'is missing: the role train needs it',
  });
export type Hello = z.infer<typeof Hello>;

export interface Welcome {
  readonly kind: 'welcome';
  readonly protocol: number;
  readonly session: { readonly id: string; readonly received: number };
  readonly resumed: boolean;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly frameBytesMax: number;
  readonly unackedBytesMax: number;
}

export interface Refused {
  readonly kind: 'refused';
  readonly code:
    | 'invalid_hello'
    | 'protocol_version'
    | 'unknown_model'
    | 'wrong_model'
    | 'wrong_limits'
    | 'wrong_role'
    | 'too_many_workers';
  readonly message: string;
}

/** The server's data of a model that workers serve. */
export interface WorkerModel {
  readonly id: string;
  readonly configSha256: string;
  readonly tokenizerSha256: string;
  readonly contextLength: number;
  readonly vocabSize: number;
  /** What this server has workers do. Absent: both. */
  readonly uses?: readonly Hello['roles'][number][];
}

export class WorkerRefused extends Error {
  readonly code: Refused['code'];
  constructor(code: Refused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Throws WorkerRefused. */
export function readHello(message: unknown, models: ReadonlyMap<string, WorkerModel>): Hello {
  const version = (message as { protocol?: unknown } | null)?.protocol;
  if (Number.isInteger(version) && version !== PROTOCOL) {
    throw new WorkerRefused(
      'protocol_version',
      `The worker speaks version ${String(version)} of the protocol, this server version ${PROTOCOL}. Install the same version of Whetstone on both.`,
    );
  }
  const parsed = Hello.safeParse(message);
  if (!parsed.success) {
    const { path, message: fault } = parsed.error.issues[0]!;
    throw new WorkerRefused('invalid_hello', `The hello message is invalid: ${path.join('.') || 'it'}: ${fault}.`);
  }
  const hello = parsed.data;
  const model = models.get(hello.model.id);
  if (!model) {
    const known = [...models.keys()].join(', ') || 'none';
    throw new WorkerRefused(
      'unknown_model',
      `This server has no model ${hello.model.id} for workers; it has: ${known}. Start the worker with one of these names (--model-id), or the server with --worker-model ${hello.model.id}.`,
    );
  }
  checkModel(hello, model);
  checkRoles(hello, model);
  return hello;
}

function checkModel({ model: theirs, sampler, trainer }: Hello, ours: WorkerModel): void {
  const files = [
    ['config.json', theirs.configSha256, ours.configSha256],
    ['tokenizer.json', theirs.tokenizerSha256, ours.tokenizerSha256],
  ] as const;
  for (const [name, there, here] of files) {
    if (there === here) continue;
    throw new WorkerRefused(
      'wrong_model',
      `The worker's ${name} of ${ours.id} differs from the server's (SHA-256 ${there.slice(0, 12)}…, the server's ${here.slice(0, 12)}…). Use the same revision of the model on both.`,
    );
  }
  const wrong = (what: string, there: number, here: number) =>
    new WorkerRefused('wrong_limits', `The worker has a ${what} of ${there} for ${ours.id}, this server ${here}.`);
  if (sampler && sampler.vocabSize !== ours.vocabSize) throw wrong('vocabulary', sampler.vocabSize, ours.vocabSize);
  for (const length of [sampler?.contextLength, trainer?.limits.contextLength]) {
    if (length !== undefined && length > ours.contextLength) throw wrong('context length', length, ours.contextLength);
  }
}

/** Otherwise a worker would be connected and get nothing to do, while its jobs or requests wait at another server. */
function checkRoles({ roles }: Hello, { id, uses }: WorkerModel): void {
  if (!uses || roles.some((role) => uses.includes(role))) return;
  const needs = uses.length === 0 ? 'no workers' : `only workers that ${uses.join(' and ')}`;
  throw new WorkerRefused(
    'wrong_role',
    `By its roles (--role) this server needs ${needs} for ${id}, and the worker has --roles ${roles.join(',')}. Workers that sample connect to servers with the role serve, those that train to servers with the role train: give the worker the address of such a server itself, not that of a proxy.`,
  );
}
