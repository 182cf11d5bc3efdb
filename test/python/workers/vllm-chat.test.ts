// What a client sees of a server whose model is sampled by vLLM: choices, log-probabilities, response formats, tools, trained
// checkpoints, and an answer whose vLLM dies. Needs the interpreter that WHETSTONE_VLLM_PYTHON names (scripts/python-env.sh vllm).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { pushArtifact } from '#client/artifact-files';
import { createClient } from '#client/client';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer } from '../../../src/main.ts';
import { BOOTSTRAP_KEY } from '../../support/api/test-server.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { childrenOf } from './process-table.ts';
import { startNodeWorker } from './node-worker.ts';
import { startPythonWorker } from './python-worker.ts';
import type { WorkerProcess } from './worker-process.ts';
import { ON_A_PROCESSOR, VLLM_PYTHON } from './vllm-worker.ts';

const MODEL = 'whetstone/starter';
const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
const SOON = { timeout: 600_000, interval: 200 };
const ASKED = { model: MODEL, messages: [{ role: 'user' as const, content: 'What is 2 + 3?' }] };

/** vLLM is ready after a minute, and after several on a busy machine. */
vi.setConfig({ hookTimeout: 900_000, testTimeout: 900_000 });

describe('a model that vLLM samples', skipWithoutPython('WHETSTONE_VLLM_PYTHON'), () => {
  let data: string;
  let server: Awaited<ReturnType<typeof startServer>>;
  let worker: WorkerProcess;
  let openai: OpenAI;
  const api = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${server.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' },
    });
    return response.json() as Promise<Record<string, unknown>>;
  };
  const workers = async () =>
    (await api('/v1/workers'))['data'] as { id: string; state: string; roles: string[]; adapters: string[] }[];

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'whetstone-vllm-chat-'));
    const config = readServerConfig(
      { data, port: '0', workerModel: ['starter'] },
      { WHETSTONE_API_KEY: BOOTSTRAP_KEY },
    );
    server = await startServer(config, silentLog);
    openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: BOOTSTRAP_KEY, maxRetries: 0 });
    worker = await startPythonWorker(
      { url: server.url, isThere: async () => (await workers()).length > 0 },
      [
        ...[
          '--model',
          STARTER,
          '--model-id',
          MODEL,
          '--roles',
          'sample',
          '--dtype',
          'float32',
          '--sequences-max',
          '16',
        ],
        ...['--cache-dir', join(data, 'worker-cache'), '--', '--enforce-eager'],
      ],
      { python: VLLM_PYTHON!, more: ON_A_PROCESSOR },
    );
  });
  afterAll(async () => {
    await worker?.leave();
    await server?.close();
    await rm(data, { recursive: true, force: true });
  });

  test('choices differ, each with its log-probabilities', async () => {
    const answer = await openai.chat.completions.create({
      ...ASKED,
      n: 2,
      seed: 1,
      temperature: 2,
      max_tokens: 8,
      logprobs: true,
      top_logprobs: 3,
    });
    const [first, second] = answer.choices;
    expect(first!.message.content).not.toBe(second!.message.content);
    for (const { logprobs, finish_reason } of answer.choices) {
      expect(['stop', 'length']).toContain(finish_reason);
      for (const token of logprobs!.content!) {
        expect(token.logprob).toBeLessThanOrEqual(0);
        expect(token.top_logprobs).toHaveLength(3);
      }
    }
    expect(answer.usage!.completion_tokens).toBeGreaterThan(2);
  });

  test('a stream ends at a stop string, and reports its usage', async () => {
    const whole = await openai.chat.completions.create({ ...ASKED, temperature: 0 });
    const text = whole.choices[0]!.message.content!;
    const stop = text.slice(-2);
    const stream = await openai.chat.completions.create({
      ...ASKED,
      temperature: 0,
      stop,
      stream: true,
      stream_options: { include_usage: true },
    });
    let said = '';
    let usage = null;
    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(said).toBe(text.slice(0, text.indexOf(stop)));
    expect(usage?.completion_tokens).toBeGreaterThan(0);
  });

  test('answers follow a schema, a regex, a grammar and a choice', async () => {
    const schema = {
      type: 'object',
      properties: { answer: { enum: ['yes', 'no'] } },
      required: ['answer'],
      additionalProperties: false,
    };
    const ask = async (more: object) => {
      const answer = await openai.chat.completions.create({
        ...ASKED,
        temperature: 2,
        seed: 3,
        max_tokens: 60,
        ...more,
      });
      return answer.choices[0]!.message.content!;
    };
    const format = { type: 'json_schema', json_schema: { name: 'it', schema, strict: true } };
    expect(['yes', 'no']).toContain((JSON.parse(await ask({ response_format: format })) as { answer: string }).answer);
    expect(await ask({ structured_outputs: { regex: '[0-9]{3}-[a-c]' } })).toMatch(/^[0-9]{3}-[a-c]$/);
    expect(['red', 'green']).toContain(await ask({ structured_outputs: { grammar: 'root ::= "red" | "green"' } }));
    expect(['left', 'right']).toContain(await ask({ structured_outputs: { choice: ['left', 'right'] } }));
  });

  test('a forced call is a call, and with a response format the answer may be either', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'get_weather',
          parameters: { type: 'object', properties: { city: { type: 'string', maxLength: 8 } }, required: ['city'] },
        },
      },
    ];
    const forced = await openai.chat.completions.create({ ...ASKED, tools, tool_choice: 'required', max_tokens: 200 });
    const call = forced.choices[0]!.message.tool_calls![0]!;
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
    expect(forced.choices[0]!.finish_reason).toBe('tool_calls');
    const schema = { type: 'object', properties: { n: { type: 'integer', maximum: 9, minimum: 0 } }, required: ['n'] };
    const either = await openai.chat.completions.create({
      ...ASKED,
      tools,
      response_format: { type: 'json_schema', json_schema: { name: 'it', schema } },
      max_tokens: 200,
    });
    const { message } = either.choices[0]!;
    expect(
      message.tool_calls?.length ?? Number.isInteger((JSON.parse(message.content!) as { n: number }).n),
    ).toBeTruthy();
  });

  test('token ids go in and come out, as from any other sampler', async () => {
    const generate = (sampling: object, fields: object = {}) =>
      api('/inference/v1/generate', {
        method: 'POST',
        body: JSON.stringify({ model: MODEL, token_ids: [5, 6, 7], sampling_params: sampling, ...fields }),
      });
    const sampling = { max_tokens: 6, temperature: 0, seed: 1, ignore_eos: true, logprobs: 2, prompt_logprobs: 1 };
    const { choices, prompt_logprobs: prompt } = await generate(sampling);
    const [choice] = choices as { token_ids: number[]; logprobs: { content: { top_logprobs: object[] }[] } }[];
    expect(choice!.token_ids).toHaveLength(6);
    expect(choice!.logprobs.content.map(({ top_logprobs: top }) => top.length)).toEqual(Array(6).fill(2));
    expect(prompt).toHaveLength(3);
    const stopped = await generate({ ...sampling, stop_token_ids: [choice!.token_ids[3]!] });
    expect(stopped['choices']).toMatchObject([{ finish_reason: 'stop', stop_reason: choice!.token_ids[3] }]);
    const refused = await generate({ ...sampling, logprob_token_ids: [1] });
    expect(refused).toMatchObject({ error: { param: 'logprob_token_ids', code: expect.any(String) as string } });
  });

  test('a field that vLLM cannot apply is refused by name', async () => {
    const refused = (more: object) =>
      openai.chat.completions
        .create({ ...ASKED, ...more })
        .catch((error: unknown) => error as InstanceType<typeof OpenAI.APIError>);
    expect(await refused({ bad_words: ['five'] })).toMatchObject({ status: 400, param: 'bad_words' });
    expect(await refused({ structured_outputs: { regex: '(unclosed' } })).toMatchObject({
      status: 422,
      param: 'structured_outputs',
      message: expect.stringMatching(/unclosed/) as string,
    });
    expect(await refused({ max_tokens: 100_000 })).toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });

  test('a trained checkpoint is loaded when its job ends, and answers come with their token ids', async () => {
    const trainer = await startNodeWorker(
      { url: server.url, isThere: async () => (await workers()).length === 2 },
      'train',
    );
    const client = createClient({ baseUrl: server.url, apiKey: BOOTSTRAP_KEY });
    const { id } = await client.registerModel({ project: 'p', name: 'agent', base_model: MODEL });
    const rows = Array.from({ length: 16 }, () => ({
      messages: [...ASKED.messages, { role: 'assistant', content: 'It is red.' }],
    }));
    await writeFile(join(data, 'rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { uri } = await pushArtifact(client, 'default/p/rows', join(data, 'rows.jsonl'), { type: 'dataset' });
    const config = { batch_size: 2, learning_rate: 1e-2 };
    const job = await client.submitSftJob({ model_id: id, training_data_url: uri, config }, { idempotencyKey: 'once' });
    await client.follow(job.id, { deadlineMs: 600_000 });
    await vi.waitFor(async () => expect((await workers()).flatMap(({ adapters }) => adapters)).toHaveLength(1), SOON);
    const answer = await openai.chat.completions.create({ ...ASKED, model: 'default/p/agent', temperature: 0 });
    expect(answer.choices[0]!.message.content).toBe('It is red.');
    const tokens = answer.choices[0]!.logprobs!.content!;
    expect(tokens.length).toBe(answer.usage!.completion_tokens);
    expect(tokens.every(({ token }) => /^token_id:\d+$/.test(token))).toBe(true);
    const base = await openai.chat.completions.create({ ...ASKED, temperature: 0 });
    expect(base.choices[0]!.message.content).not.toContain('red');
    await trainer.leave();
  });

  test('if vLLM dies, its answers end with the cause, and the worker comes back with a new one', async () => {
    const first = (await workers()).find(({ roles }) => roles.includes('sample'))!;
    const stream = await openai.chat.completions.create({
      ...ASKED,
      ignore_eos: true,
      max_tokens: 900,
      stream: true,
    } as never);
    let chunks = 0;
    const read = async () => {
      for await (const _ of stream as unknown as AsyncIterable<unknown>) if (++chunks === 5) killVllm(worker.pid); // in the middle
    };
    await expect(read()).rejects.toMatchObject({
      message: expect.stringMatching(/vLLM stopped in the middle/) as string,
    });
    await vi.waitFor(async () => {
      expect((await workers()).filter(({ id, state }) => id !== first.id && state === 'connected')).toHaveLength(1);
    }, SOON);
    const again = await openai.chat.completions.create({ ...ASKED, temperature: 0, max_tokens: 4 });
    expect(again.choices[0]!.message.content).toBeTruthy();
  });
});

/** The vLLM server: a grandchild of the worker, with its supervising process in between. */
function killVllm(workerPid: number): void {
  for (const leash of childrenOf(workerPid)) for (const { pid } of childrenOf(leash.pid)) process.kill(pid, 'SIGKILL');
}
