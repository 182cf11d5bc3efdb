// Training runs: started fresh or from saved weights, and their numbered operations. Each operation is answered with a future
// immediately; future-routes.ts returns its result.
import type { Readable } from 'node:stream';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { OperationKind } from '#domain/tinker';
import { readForwardBackwardHead, readForwardBackwardNumber } from '#services/tinker/protobuf/forward-backward';
import type { Tinker } from '#services/tinker/tinker';
import { requestIdOf } from '#services/tinker/operations';
import { noSampler } from '#services/tinker/saves';
import type { Endpoint } from '../http/endpoint.ts';
import * as answers from './tinker-answers.ts';
import { notingRefusal, tinkerRoute } from './tinker-endpoint.ts';
import * as wire from './tinker-schema.ts';

/** The SDK splits requests at 5 MB. */
const REQUEST_BYTES_MAX = 16_000_000;

export function trainingRoutes({ sessions, operations }: Pick<Tinker, 'sessions' | 'operations'>): Endpoint[] {
  /** Of requests whose body says which one they are. */
  const refusedAs = (kind: OperationKind) => (caller: Caller, raw: unknown, reason: string) => {
    const number = wire.numbered.safeParse(raw);
    if (!number.success) return Promise.resolve();
    return operations.refuse(caller, { runId: number.data.model_id, seq: number.data.seq_id, kind }, reason);
  };
  const about = { access: 'train', begins: 'train', errors: [400, 404, 429], answer: answers.future } as const;
  return [
    tinkerRoute('POST /create_model', {
      ...about,
      summary: 'Start a training run with a new adapter',
      body: wire.createModel,
      async handle({ caller, body }) {
        refuseOtherOptimizers(body.optimizer_config);
        const { lora_config: lora } = body;
        const { rank = 32, seed = null } = lora ?? {};
        const { train_attn: attention = true, train_mlp: mlp = true, train_unembed: unembed = true } = lora ?? {};
        if (!attention && !mlp && !unembed) {
          const message = 'Nothing would be trained: set one of train_attn, train_mlp and train_unembed.';
          throw new AppError('invalid_request', message, { param: 'lora_config' });
        }
        const run = await sessions.createRun(caller, {
          sessionId: body.session_id,
          ordinal: body.model_seq_id,
          baseModel: body.base_model,
          metadata: body.user_metadata ?? {},
          lora: { rank, seed, attention, mlp, unembed },
        });
        return { request_id: requestIdOf(run.id, 0), model_id: run.id };
      },
    }),
    tinkerRoute('POST /load_weights', {
      ...about,
      summary: 'Start a training run from saved weights, or load them into an existing one',
      body: wire.loadWeights,
      onRefused: refusedAs('load'),
      async handle({ caller, body }) {
        refuseOtherOptimizers(body.optimizer_config);
        const { path, model_id: runId, seq_id: seq, session_id: sessionId, model_seq_id: ordinal } = body;
        const optimizer = body.optimizer ?? false;
        if (runId && seq) {
          const load = { runId, seq, kind: 'load' as const, body: { path, optimizer }, request: null };
          return { request_id: await operations.submit(caller, load), model_id: runId };
        }
        if (!sessionId || ordinal === null || ordinal === undefined)
          throw new AppError('invalid_request', 'Send model_id and seq_id, or session_id and model_seq_id.');
        const metadata = body.user_metadata ?? {};
        const baseModel = body.base_model ?? null;
        const run = await sessions.loadRun(caller, { sessionId, ordinal, baseModel, path, optimizer, metadata });
        return { request_id: requestIdOf(run.id, 0), model_id: run.id };
      },
    }),
    tinkerRoute('POST /get_info', {
      summary: 'Read what a training run trains',
      access: 'train',
      errors: [404],
      body: wire.getInfo,
      answer: answers.info,
      async handle({ caller, body }) {
        const { id, servedAs, lora } = await sessions.getRun(caller, body.model_id);
        const data = { model_name: servedAs };
        return { model_id: id, model_data: data, model_name: servedAs, is_lora: true, lora_rank: lora.rank };
      },
    }),
    tinkerRoute('POST /forward_backward', {
      ...about,
      summary:
        'Compute log-probabilities of data, and accumulate their gradients unless forward_only is set. The body is the Protocol Buffers message `ForwardBackwardRequest` of the SDK',
      bodySize: 'file',
      bodyType: 'application/x-protobuf',
      async handle({ caller, request }) {
        const begunMs = performance.now();
        const pieces: Uint8Array[] = [];
        const kind = 'forward_backward';
        const submit = async () => {
          const bytes = await readWhole(request.body as Readable | undefined, pieces);
          const { runId, seq, forwardOnly } = readForwardBackwardHead(bytes);
          const body = { forwardOnly };
          const id = await operations.submit(caller, { runId, seq, kind, body, request: bytes, begunMs });
          return { request_id: id, model_id: runId };
        };
        return notingRefusal(submit, (reason) => {
          const number = readForwardBackwardNumber(Buffer.concat(pieces));
          return number ? operations.refuse(caller, { ...number, kind }, reason) : undefined;
        });
      },
    }),
    tinkerRoute('POST /optim_step', {
      ...about,
      summary: 'Apply the accumulated gradients (AdamW), then clear them',
      body: wire.optimStep,
      onRefused: refusedAs('optim_step'),
      async handle({ caller, body: { model_id: runId, seq_id: seq, adam_params: adam } }) {
        const params = {
          learningRate: adam.learning_rate,
          beta1: adam.beta1,
          beta2: adam.beta2,
          epsilon: adam.eps,
          weightDecay: adam.weight_decay,
          maxGradNorm: adam.grad_clip_norm,
        };
        const id = await operations.submit(caller, { runId, seq, kind: 'optim_step', body: params, request: null });
        return { request_id: id, model_id: runId };
      },
    }),
    tinkerRoute('POST /save_weights', {
      ...about,
      summary: 'Save weights and optimizer state under a name',
      body: wire.saveWeights,
      onRefused: refusedAs('save_weights'),
      async handle({ caller, body }) {
        const name = body.path ?? String(body.seq_id).padStart(6, '0');
        return { request_id: await save(caller, 'save_weights', body, name, null), model_id: body.model_id };
      },
    }),
    tinkerRoute('POST /save_weights_for_sampler', {
      ...about,
      summary: 'Save weights for sampling, under a name or as a sampling session',
      body: wire.saveForSampler,
      onRefused: refusedAs('save_sampler'),
      async handle({ caller, body }) {
        const [name, ordinal] = [body.path ?? null, body.sampling_session_seq_id ?? null];
        if (name === null && ordinal === null) throw noSampler();
        const id = await save(caller, 'save_sampler', body, name, ordinal);
        return { request_id: id, model_id: body.model_id };
      },
    }),
    tinkerRoute('POST /save_weights_external', {
      ...about,
      summary: 'Save weights for other programs, as files with URLs',
      body: wire.saveExternal,
      onRefused: refusedAs('save_external'),
      async handle({ caller, body }) {
        return { request_id: await save(caller, 'save_external', body, body.path, null), model_id: body.model_id };
      },
    }),
  ];

  function save(
    caller: Parameters<typeof operations.submit>[0],
    kind: 'save_weights' | 'save_sampler' | 'save_external',
    {
      model_id: runId,
      seq_id: seq,
      overwrite,
      ttl_seconds: ttl,
      user_metadata: metadata,
    }: Partial<Saved> & Pick<Saved, 'model_id' | 'seq_id'>,
    name: string | null,
    samplerOrdinal: number | null,
  ): Promise<string> {
    const options = { overwrite: overwrite ?? false, ttlSeconds: ttl ?? null, metadata: metadata ?? {} };
    return operations.submit(caller, { runId, seq, kind, body: { name, samplerOrdinal, ...options }, request: null });
  }
}

type Saved = (typeof wire.saveWeights)['_output'];

function refuseOtherOptimizers(config: { readonly type: string } | null | undefined): void {
  if (!config || config.type === 'adamw') return;
  const message = `optimizer_config.type \`${config.type}\` is not supported. Use adamw.`;
  throw new AppError('invalid_request', message, { param: 'optimizer_config' });
}

/** Into `pieces`. Throws `body_too_large`, `invalid_request`. */
async function readWhole(body: Readable | undefined, pieces: Uint8Array[]): Promise<Uint8Array> {
  let size = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > REQUEST_BYTES_MAX)
      throw new AppError('body_too_large', `The request is over ${REQUEST_BYTES_MAX} bytes. Send fewer data at once.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
