// The verbs of the Tinker protocol without its SDK, but with its retries: a lost request is sent again under its number. For
// tests and benchmarks of servers that are killed in the meantime, or whose own time is measured.
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOf } from '../../../src/services/tinker/protobuf/tensors.ts';
import { createMessage, readFields, toDouble, toText } from '../../../src/services/tinker/protobuf/wire.ts';

export interface Adam {
  readonly learning_rate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly eps?: number;
  readonly weight_decay?: number;
  readonly grad_clip_norm?: number;
}

/** For cross_entropy. */
export interface WeightedDatum {
  readonly tokens: readonly number[];
  readonly targets: readonly number[];
  readonly weights: readonly number[];
}

export interface TinkerRun {
  readonly id: string;
  /** Returns `loss:sum`. Calls may follow each other without waiting. */
  forwardBackward(data: readonly WeightedDatum[]): Promise<number>;
  /** Returns the norm of the gradients. `times`: sent so often at once, under one number; throws if the answers differ. */
  optimStep(adam: Adam, times?: number): Promise<number>;
  /** Returns the path. */
  saveState(name: string): Promise<string>;
  /** Returns the id of a sampling session. */
  saveForSampler(): Promise<string>;
}

export interface TinkerClient {
  /** `unembed`: the SDK's default. */
  train(rank: number, seed: number, unembed?: boolean): Promise<TinkerRun>;
  /** For the base model; returns the id of a sampling session. */
  openSampler(): Promise<string>;
  /** Returns the digest of its tokens and log-probabilities. */
  sample(samplerId: string, prompt: readonly number[], maxTokens: number, seed: number): Promise<string>;
  /** The request as the SDK sends it, for reading the answer by hand. */
  post(path: string, body: object | Uint8Array): Promise<Response>;
}

const PATIENCE_MS = 300_000;
const PAUSE_MS = 200;
const BASE = 'whetstone/starter';

export async function openTinkerClient(url: string, key: string): Promise<TinkerClient> {
  async function post(path: string, body: object | Uint8Array): Promise<Response> {
    const isMessage = body instanceof Uint8Array;
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      try {
        const response = await fetch(`${url}/tinker/api/v1/${path}`, {
          method: 'POST',
          headers: {
            'x-api-key': `tml-${key}`,
            'content-type': isMessage ? 'application/x-protobuf' : 'application/json',
          },
          body: isMessage ? new Uint8Array(body) : JSON.stringify(body),
          signal: deadline,
        });
        if (response.status !== 408 && response.status !== 429 && response.status < 500) return response;
        await response.arrayBuffer();
      } catch (error) {
        if (deadline.aborted) throw new Error(`${path}: no answer in ${PATIENCE_MS / 1000} s`, { cause: error });
      }
      await delay(PAUSE_MS);
    }
  }

  async function ask<T>(path: string, body: object | Uint8Array): Promise<T> {
    const response = await post(path, body);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Null: the server no longer knows it. */
  async function fetchResult(requestId: string): Promise<Uint8Array | null> {
    const response = await post('retrieve_future', { request_id: requestId });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status === 410) return null;
    if (!response.ok || bytes[0] === BRACE) {
      const text = Buffer.from(bytes).toString();
      if (!response.ok || 'error' in (JSON.parse(text) as object)) throw new Error(`${requestId}: ${text}`);
    }
    return bytes;
  }

  async function future(path: string, body: object | Uint8Array): Promise<Uint8Array> {
    const { request_id } = await ask<{ request_id: string }>(path, body);
    const result = await fetchResult(request_id);
    if (!result) throw new Error(`${request_id} is gone`);
    return result;
  }
  const futureJson = async <T>(path: string, body: object): Promise<T> =>
    JSON.parse(Buffer.from(await future(path, body)).toString()) as T;

  const { session_id: sessionId } = await ask<{ session_id: string }>('create_session', {});
  let runs = 0;
  let samplers = 0;
  let samples = 0;

  async function train(rank: number, seed: number, unembed = true): Promise<TinkerRun> {
    const about = { session_id: sessionId, model_seq_id: runs++, base_model: BASE };
    const lora_config = { rank, seed, train_mlp: true, train_attn: true, train_unembed: unembed };
    const { model_id } = await futureJson<{ model_id: string }>('create_model', { ...about, lora_config });
    let seq = 0;
    return {
      id: model_id,
      async forwardBackward(data) {
        return readLoss(await future('forward_backward', writeRequest(model_id, ++seq, data)));
      },
      async optimStep(adam_params, times = 1) {
        const body = { model_id, seq_id: ++seq, adam_params };
        const send = () => futureJson<{ metrics: { grad_norm: number } }>('optim_step', body);
        const [norm, ...others] = (await Promise.all(Array.from({ length: times }, send))).map(
          ({ metrics }) => metrics.grad_norm,
        );
        if (others.some((other) => other !== norm))
          throw new Error(`${model_id}: number ${body.seq_id} was done twice`);
        return norm!;
      },
      async saveState(name) {
        return (await futureJson<{ path: string }>('save_weights', { model_id, seq_id: ++seq, path: name })).path;
      },
      async saveForSampler() {
        const body = { model_id, seq_id: ++seq, sampling_session_seq_id: samplers++ };
        type Saved = { sampling_session_id: string };
        return (await futureJson<Saved>('save_weights_for_sampler', body)).sampling_session_id;
      },
    };
  }

  async function openSampler(): Promise<string> {
    const body = { session_id: sessionId, sampling_session_seq_id: samplers++, base_model: BASE };
    return (await ask<{ sampling_session_id: string }>('create_sampling_session', body)).sampling_session_id;
  }

  async function sample(samplerId: string, prompt: readonly number[], maxTokens: number, seed: number) {
    for (;;) {
      const { request_id } = await ask<{ request_id: string }>('asample', {
        sampling_session_id: samplerId,
        seq_id: samples++,
        num_samples: 1,
        prompt: { chunks: [{ type: 'encoded_text', tokens: prompt }] },
        sampling_params: { max_tokens: maxTokens, seed },
      });
      const result = await fetchResult(request_id);
      if (result) return digestOfSequences(result);
    }
  }

  return { train, openSampler, sample, post };
}

const BRACE = '{'.charCodeAt(0);

function writeRequest(runId: string, seq: number, data: readonly WeightedDatum[]): Uint8Array {
  const request = createMessage().text(1, runId).integer(2, seq).text(4, 'cross_entropy');
  for (const datum of data) request.message(3, writeDatum(datum));
  return request.done();
}

function writeDatum({ tokens, targets, weights }: WeightedDatum): Uint8Array {
  const text = createMessage()
    .bytes(1, bytesOf(Int32Array.from(tokens)))
    .done();
  const tensor = (bytes: Uint8Array, type: number) =>
    createMessage().message(1, bytes).integer(3, type).integers(4, [tokens.length]).done();
  const input = (name: string, value: Uint8Array) => createMessage().text(1, name).message(2, value).done();
  return createMessage()
    .message(1, createMessage().message(1, text).done())
    .message(2, input('target_tokens', tensor(bytesOf(BigInt64Array.from(targets, BigInt)), 2)))
    .message(2, input('weights', tensor(bytesOf(Float32Array.from(weights)), 1)))
    .done();
}

/** The field `sequences` of a SampleResponse, without the number of cached prompt tokens. */
function digestOfSequences(bytes: Uint8Array): string {
  const digest = createHash('sha256');
  for (const field of readFields(bytes)) if (field.number === 1) digest.update(field.bytes);
  return digest.digest('hex');
}

/** The metric `loss:sum` of a ForwardBackwardOutput. */
function readLoss(bytes: Uint8Array): number {
  for (const field of readFields(bytes)) {
    if (field.number !== 3) continue;
    const [name, value] = [...readFields(field.bytes)];
    if (toText(name!) === 'loss:sum') return toDouble(value!);
  }
  throw new Error('an output without loss:sum');
}
