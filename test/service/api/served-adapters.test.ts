// Adapters written by PEFT, on a server that was started with them: their answers match PyTorch's, jobs train on from them,
// and an unchanged start changes nothing.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createClient } from '#client/client';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer, type RunningServer } from '../../../src/main.ts';
import { fixturePath, openModelFixture } from '../../support/golden/fixture.ts';

const KEY = 'k'.repeat(40);
const golden = await openModelFixture('qwen3');

let root: string;
let adapter: string;
let server: RunningServer | null = null;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-adapters-'));
  adapter = join(root, 'tutor');
  await cp(golden.adapter, adapter, { recursive: true });
  await writeFile(join(adapter, 'README.md'), 'beside what PEFT loads');
  await cp(golden.model, join(root, 'tiny'), { recursive: true });
  await writeFile(join(root, 'tiny', 'tokenizer.json'), await smallTokenizer(224));
});
afterEach(async () => {
  await stop();
  await rm(root, { recursive: true, force: true });
});

/** Single bytes, as many as the golden model has rows. */
async function smallTokenizer(rows: number): Promise<string> {
  const text = await readFile(fixturePath('tokenizers/qwen/tokenizer.json'), 'utf8');
  const tokenizer = JSON.parse(text) as { model: { vocab: Record<string, number> } };
  const vocab = Object.fromEntries(Object.entries(tokenizer.model.vocab).filter(([, id]) => id < rows));
  return JSON.stringify({ ...tokenizer, model: { ...tokenizer.model, vocab, merges: [] }, added_tokens: [] });
}

async function start(adapters: readonly string[], model = [join(root, 'tiny')]) {
  const flags = { port: '0', data: join(root, 'data'), model, adapter: adapters };
  server = await startServer(readServerConfig(flags, { WHETSTONE_API_KEY: KEY }), silentLog);
  const client = createClient({ baseUrl: `${server.url}/v1/`, apiKey: KEY });
  const stepsOf = async (name: string) => {
    const model = (await models()).find((each) => `${each.project}/${each.name}` === name)!;
    return (await all(client.listCheckpoints(model.id))).map(({ step }) => step).sort();
  };
  const models = () => all(client.listModels());
  return { client, models, stepsOf };
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

async function stop() {
  await server?.close();
  server = null;
}

/** The log-probabilities of all tokens after the prompt. */
async function nextLogprobs(model: string): Promise<number[]> {
  const answer = await fetch(`${server!.url}/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      prompt: golden.expected.sequences.short,
      max_tokens: 1,
      temperature: 0,
      logprobs: 20,
      return_tokens_as_token_ids: true,
    }),
  });
  const body = (await answer.json()) as { choices: { logprobs: { top_logprobs: Record<string, number>[] } }[] };
  expect(answer.status, JSON.stringify(body)).toBe(200);
  const logprobs: number[] = [];
  for (const [token, logprob] of Object.entries(body.choices[0]!.logprobs.top_logprobs[0]!))
    logprobs[Number(token.replace('token_id:', ''))] = logprob;
  return logprobs;
}

function expectGolden(kind: 'base' | 'adapter', logprobs: readonly number[]): void {
  const logits = golden.tensors.get(`${kind}.logits.short`)!.slice(-224);
  const logSumExp = Math.log(logits.reduce((sum, x) => sum + Math.exp(x), 0));
  expect(Object.keys(logprobs).length).toBeGreaterThanOrEqual(20);
  logprobs.forEach((logprob, id) => expect(logprob, String(id)).toBeCloseTo(logits[id]! - logSumExp, 4));
}

test('an adapter answers as PyTorch computes it, by its directory’s name, a given name, and without the project', async () => {
  const { stepsOf } = await start([adapter, `team/coach=${adapter}`]);
  for (const model of ['adapters/tutor', 'tutor', 'default/adapters/tutor@1', 'team/coach'])
    expectGolden('adapter', await nextLogprobs(model));
  expectGolden('base', await nextLogprobs('adapters/tutor@0'));
  expectGolden('base', await nextLogprobs('tiny'));
  expect(await stepsOf('adapters/tutor')).toEqual([0, 1]);
});

test('a job trains on from it; the next start changes nothing, and a changed adapter becomes the next step', async () => {
  const { client, models, stepsOf } = await start([adapter]);
  const { id: model_id } = (await models())[0]!;
  const trajectories = [1, 0].map((reward, i) => ({
    messages_and_choices: [
      { role: 'user' as const, content: 'Go' },
      {
        index: 0,
        finish_reason: 'length',
        message: { role: 'assistant' as const, content: '' },
        token_ids: [5 + i, 6, 7],
        prompt_token_ids: [1, 2, 3],
        logprobs: { content: [5 + i, 6, 7].map((id) => ({ token: `token_id:${id}`, logprob: -5, top_logprobs: [] })) },
      },
    ],
    reward,
  }));
  const job = await client.submitTrainingJob({ model_id, trajectory_groups: [{ trajectories }] });
  await client.follow(job.id, { deadlineMs: 60_000 });
  expect(await stepsOf('adapters/tutor')).toEqual([0, 1, 2]);
  const trained = await nextLogprobs('tutor');
  await stop();

  const again = await start([adapter]);
  expect(await again.stepsOf('adapters/tutor')).toEqual([0, 1, 2]);
  expect(await nextLogprobs('tutor')).toEqual(trained);
  await stop();

  await change({ lora_alpha: 16 });
  const changed = await start([adapter]);
  expect(await changed.stepsOf('adapters/tutor')).toEqual([0, 1, 2, 3]);
  expectGolden('adapter', await nextLogprobs('tutor@1'));
  const latest = await nextLogprobs('tutor');
  expect(latest).not.toEqual(trained);
  await stop();

  await start([adapter]);
  expect(await nextLogprobs('tutor')).toEqual(latest);
  expect(await nextLogprobs('tutor@3')).toEqual(latest);
});

async function change(fields: object): Promise<void> {
  const path = join(adapter, 'adapter_config.json');
  await writeFile(path, JSON.stringify({ ...(JSON.parse(await readFile(path, 'utf8')) as object), ...fields }));
}

test('adapters that do not fit are refused in one sentence, and leave no model', async () => {
  const cases: [spoil: () => Promise<void>, says: RegExp][] = [
    [() => rm(join(adapter, 'adapter_model.safetensors')), /tutor: it has no adapter_model\.safetensors\. Pass/],
    [() => rm(adapter, { recursive: true }), /tutor: it has no adapter_config\.json/],
    [() => change({ use_dora: true }), /tutor: Cannot load the adapter: .*use_dora is not supported/],
    [
      () => change({ peft_type: 'IA3', r: undefined }),
      /adapter_config\.json: peft_type IA3 is not supported; LORA is\./,
    ],
    [() => change({ base_model_name_or_path: 'Qwen/Qwen3-8B' }), /says that it adapts Qwen\/Qwen3-8B, not tiny/],
    [() => change({ r: 8 }), /does not fit the base model: tensor .* is \[4, 32\], the base model needs \[8, 32\]/],
  ];
  for (const [spoil, says] of cases) {
    await spoil();
    await expect(start([adapter])).rejects.toThrow(says);
    await cp(golden.adapter, adapter, { recursive: true });
  }
  const { models } = await start([]);
  expect(await models()).toEqual([]);
});

test('of several models it adapts the one that it names, or none', async () => {
  await mkdir(join(root, 'models'));
  await cp(join(root, 'tiny'), join(root, 'models', 'other'), { recursive: true });
  const hosted = [join(root, 'models', 'other'), join(root, 'tiny')];
  await change({ base_model_name_or_path: '/home/somebody/tiny' });
  const { models } = await start([adapter], hosted);
  expect((await models())[0]).toMatchObject({ base_model: 'tiny' });
  await stop();
  await change({ base_model_name_or_path: 'nobody/knows' });
  await expect(start([adapter], hosted)).rejects.toThrow(
    /"nobody\/knows", which this server does not host\. Change it to .*: other, tiny/,
  );
});
