// Malicious clients, each a loop of one kind of attack: misleading bodies, grammars and templates that never end, jobs that cannot succeed,
// stalled readers and writers, uploads that break off, connections that vanish. They count the responses and ignore everything else.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createRandom } from '#base/random';
import { hostileAnswers } from './hostile-answers.ts';
import {
  BYTES_MAX,
  hostileManifests,
  hostileSftShapes,
  hostileShapes,
  hostileTrainingShapes,
} from '../test/support/security/hostile-bodies.ts';

export interface HostilePlan {
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** Counts of what they do. */
  readonly seed: number;
  readonly goesOn: () => boolean;
}

type Random = ReturnType<typeof createRandom>;

/** How often each attack had which outcome: `a long seed 422`, `slow readers gone`. */
export type Endings = Map<string, number>;

/** The longest wait for one response. */
const ANSWER_MS_MAX = 120_000;
const JOBS = '/v1/preview/training-jobs';
const SFT_JOBS = '/v1/preview/sft-training-jobs';
const HELD_MS = 20_000;
const STANDING = 8;

export async function beHostile(plan: HostilePlan): Promise<Endings> {
  const endings: Endings = new Map();
  const count = (trouble: string, end: string | number) => {
    const key = `${trouble}: ${end}`;
    endings.set(key, (endings.get(key) ?? 0) + 1);
  };
  const headers = { authorization: `Bearer ${plan.key}`, 'content-type': 'application/json' };

  /** Null: it was refused. */
  async function send(
    trouble: string,
    method: string,
    path: string,
    body: string | Uint8Array | null,
    more = {},
  ): Promise<string | null> {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX);
      const answer = await fetch(`${plan.url}${path}`, { method, headers: { ...headers, ...more }, body, signal });
      const text = await answer.text();
      count(trouble, answer.status);
      return answer.ok ? text : null;
    } catch (error) {
      count(trouble, (error as Error).name === 'TimeoutError' ? 'no answer' : 'connection lost');
      return null;
    }
  }
  const chat = (trouble: string, body: string) => send(trouble, 'POST', '/v1/chat/completions', body);
  /** Returns the response to a request that must succeed. */
  async function ask<T>(method: string, path: string, body: string): Promise<T> {
    const answer = await fetch(`${plan.url}${path}`, { method, headers, body });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }
  /** A job that is accepted runs for a moment, then is cancelled: otherwise it would outlast the other clients. */
  async function train(trouble: string, path: string, body: string, random: Random) {
    const made = await send(trouble, 'POST', path, body);
    const id = made && (JSON.parse(made) as { id?: string }).id;
    if (!id) return;
    await delay(2_000 * random.next());
    await send('jobs cancelled', 'POST', `${JOBS}/${id}/cancel`, '{}');
  }

  /** On a connection of its own; `use` may write and wait, then the connection is destroyed. */
  async function onSocket(trouble: string, use: (socket: Socket) => Promise<unknown>): Promise<void> {
    const { hostname, port } = new URL(plan.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    await use(socket);
    count(trouble, socket.destroyed ? 'closed by the server' : 'gone');
    socket.destroy();
  }
  const head = (method: string, path: string, length: number, type = 'application/json') =>
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${plan.key}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`;
  const streamOf = (choices: number) =>
    JSON.stringify({
      model: plan.model,
      messages: [{ role: 'user', content: 'Tell me all.' }],
      stream: true,
      n: choices,
      max_tokens: 200,
      ignore_eos: true,
      temperature: 1,
    });

  const registered = { project: 'hostile', name: `pupil-${plan.seed}`, base_model: plan.model };
  const pupil = (await ask<{ id: string }>('POST', '/v1/preview/models', JSON.stringify(registered))).id;
  const rows = '/v1/artifacts/~/hostile/rows';
  const { uri, files } = await ask<{ uri: string; files: [{ sha256: string }] }>('PUT', `${rows}/train.jsonl`, ROWS);
  const poison = Object.entries(poisonJobs(pupil, uri));
  const oneOf = <T>(list: readonly T[], random: Random): T => list[random.integer(list.length)]!;
  const bytesOf = (random: Random) => 1_000 * (BYTES_MAX / 1_000) ** random.next();

  const troubles: ((random: Random) => Promise<void>)[] = [
    ...[1, 2].map(() => async (random: Random) => {
      const [shape, make] = oneOf(Object.entries(hostileShapes(plan.model)), random);
      await chat(shape, make(bytesOf(random)));
    }),
    async (random) => {
      const [shape, make] = oneOf(Object.entries(hostileTrainingShapes(pupil)), random);
      const body = make(bytesOf(random));
      if (random.next() < 0.5) await send(`log: ${shape}`, 'POST', `/v1/preview/models/${pupil}/log`, body);
      else await train(`job: ${shape}`, JOBS, body, random);
    },
    async (random) => {
      const [shape, make] = oneOf(Object.entries(hostileSftShapes(pupil)), random);
      await train(`SFT job: ${shape}`, SFT_JOBS, make(bytesOf(random)), random);
      const [name, [path, body]] = oneOf(poison, random);
      await train(`poison: ${name}`, path, body, random);
    },
    async (random) => {
      const [shape, make] = oneOf(Object.entries(hostileManifests(files[0].sha256)), random);
      await send(`manifest: ${shape}`, 'PUT', rows, make(bytesOf(random)));
      await delay(100);
    },
    async (random) => {
      const { name, method, path, body = null, type } = oneOf(hostileAnswers(), random);
      await send(name, method, path, body, type === undefined ? {} : { 'content-type': type });
      await delay(100);
    },
    ...Array.from({ length: STANDING }, () => async () => {
      await onSocket('headers that never end', async (socket) => {
        socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ');
        await holdStill(HELD_MS);
      });
    }),
    async (random) => {
      const [name, chat_template] = oneOf(TEMPLATES, random);
      const messages = [{ role: 'user', content: 'Hi' }];
      await chat(name, JSON.stringify({ model: plan.model, messages, max_tokens: 1, chat_template }));
    },
    async (random) => {
      const [name, fields] = oneOf(GRAMMARS, random);
      const messages = [{ role: 'user', content: 'Hi' }];
      await chat(name, JSON.stringify({ model: plan.model, messages, max_tokens: 16, ...fields }));
    },
    async (random) => {
      await onSocket('streams left', async (socket) => {
        const body = streamOf(8);
        socket.write(head('POST', '/v1/chat/completions', Buffer.byteLength(body)) + body);
        socket.resume();
        await delay(500 * random.next());
      });
    },
    async (random) => {
      await onSocket('bodies cut', async (socket) => {
        socket.write(head('POST', '/v1/chat/completions', 1_000_000));
        socket.write(Buffer.alloc(1 + random.integer(900_000), '['));
        await delay(200 * random.next());
      });
    },
    async (random) => {
      await onSocket('uploads cut', async (socket) => {
        const path = '/v1/artifacts/default/hostile/cut/train.jsonl';
        socket.write(head('PUT', path, 50_000_000, 'application/octet-stream'));
        socket.write(randomBytes(1 + random.integer(4_000_000)));
        await delay(500 * random.next());
      });
      await delay(200);
    },
    async (random) => {
      const [name, body] = oneOf(BROKEN_JOBS(random.integer(200_000)), random);
      await send(name, 'POST', JOBS, body);
      await delay(100);
    },
    async () => {
      await send('gzip bombs', 'POST', '/v1/chat/completions', BOMB, { 'content-encoding': 'gzip' });
      const wrong = `/v1/artifacts/default/hostile/sum/a.bin?sha256=${'0'.repeat(64)}`;
      await send('uploads with another checksum', 'PUT', wrong, randomBytes(1_000_000));
      await delay(500);
    },
    ...Array.from({ length: STANDING }, () => async () => {
      await onSocket('readers that stand still', async (socket) => {
        const body = streamOf(16);
        socket.write(head('POST', '/v1/chat/completions', Buffer.byteLength(body)) + body);
        socket.pause();
        await holdStill(HELD_MS);
      });
    }),
    ...Array.from({ length: STANDING }, () => async () => {
      await onSocket('writers that drip', async (socket) => {
        socket.write(head('POST', JOBS, 100_000_000));
        socket.resume();
        for (let ms = 0; ms < HELD_MS && plan.goesOn() && !socket.destroyed; ms += 200) {
          socket.write(' ');
          await delay(200);
        }
      });
    }),
  ];

  async function holdStill(totalMs: number): Promise<void> {
    for (let ms = 0; ms < totalMs && plan.goesOn(); ms += 250) await delay(250);
  }

  await Promise.all(
    troubles.map(async (cause, i) => {
      const random = createRandom(1_000 * plan.seed + i);
      while (plan.goesOn()) await cause(random);
    }),
  );
  return endings;
}

const words = (n: number): string[] => Array.from({ length: n }, (_, i) => `word-${i}-${'x'.repeat(i % 20)}`);
const deep = (levels: number): object => {
  let schema: object = { type: 'string' };
  for (let i = 0; i < levels; i++)
    schema = { type: 'object', properties: { a: schema, b: { anyOf: [schema, { type: 'null' }] } } };
  return schema;
};

const kindOf = (i: number) => ({ type: 'object', properties: { kind: { const: `k${i}` } }, required: ['kind'] });
const numbers = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`p${i}`, { type: 'number', minimum: i }]));

const GRAMMARS: readonly [string, object][] = [
  ['grammar: repetitions in repetitions', { structured_outputs: { regex: '((a{1,200}b{1,200}){1,200}c{1,200}){1,200}' } }],
  ['grammar: a regex of many ways', { structured_outputs: { regex: '(a|aa|aaa|aaaa|b?b?b?b?)*[^x]{0,2000}(x+x+)+y' } }],
  ['grammar: five thousand choices', { structured_outputs: { choice: words(5_000) } }],
  ['grammar: a thousand enums', { structured_outputs: { json: { type: 'array', items: { enum: words(1_000) }, maxItems: 500 } } }],
  ['grammar: a deep schema', { structured_outputs: { json: deep(10) } }],
  ['grammar: left recursion', { structured_outputs: { grammar: 'root ::= root "a" | root root | "b" | ""' } }],
  ['grammar: ambiguity', { structured_outputs: { grammar: 'root ::= s\ns ::= s s | "a" s | s "a" | "a" | ""' } }],
  ['grammar: long strings', { structured_outputs: { json: { type: 'string', minLength: 10_000, maxLength: 100_000 } } }],
  ['grammar: one of three thousand objects', { structured_outputs: { json: { oneOf: Array.from({ length: 3_000 }, (_, i) => kindOf(i)) } } }],
  ['grammar: twelve thousand numbers', { structured_outputs: { json: { type: 'object', properties: numbers, required: Object.keys(numbers) } } }],
  ['grammar: broken', { structured_outputs: { grammar: 'root ::= (("a" | ' } }],
]; // prettier-ignore

const LOOP = '{% for a in range(99999) %}';
const doubled = (by: string) =>
  `{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ${by} %}{% endfor %}{{ ns.s }}`;

/** Templates sent with requests, which are rendered if the operator trusts them. */
const TEMPLATES: readonly [string, string][] = [
  ['template: a string that doubles', doubled('ns.s ~ ns.s')],
  ['template: splits that are joined', doubled("ns.s.split('x') | join('xx')")],
  ['template: loops in loops', `${LOOP}${LOOP}${LOOP}{% endfor %}{% endfor %}{% endfor %}`],
  ['template: a long range', '{% for i in range(1000000000) %}{{ i }}{% endfor %}'],
  ['template: deep', '{% if 1 %}'.repeat(20_000)],
  ['template: long', '{{ messages[0].content }}'.repeat(100_000)],
  ['template: harmless', '{% for m in messages %}{{ m.content }}{% endfor %}'],
];

/** Data that is accepted, and takes long to read. */
const ROWS = '{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"ok"}]}\n'.repeat(50_000);

function poisonJobs(model_id: string, training_data_url: string): Record<string, [string, string]> {
  const said = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b' },
  ];
  const trajectory = { messages_and_choices: Array.from({ length: 990 }, () => said).flat() };
  const trajectories = [1, 0].map((reward) => ({ ...trajectory, reward }));
  const experimental_config = { allow_training_without_logprobs: true };
  const rl = { model_id, trajectory_groups: [{ trajectories }], experimental_config };
  const huge = {
    ...rl,
    trajectory_groups: [{ trajectories: trajectories.slice(1).map((each) => ({ ...each, reward: 1e308 })) }],
  };
  return {
    'two thousand turns that nobody sampled': [JOBS, JSON.stringify(rl)],
    'a reward that is no reward': [JOBS, JSON.stringify(huge)],
    'fifty thousand rows in one batch': [
      SFT_JOBS,
      JSON.stringify({ model_id, training_data_url, config: { batch_size: 65_536 } }),
    ],
    'fifty thousand batches': [SFT_JOBS, JSON.stringify({ model_id, training_data_url, config: { batch_size: 1 } })],
  };
}

const BROKEN_JOBS = (bytes: number): readonly [string, string | Uint8Array][] => [
  ['job: half of a body', `{"model_id":"x","trajectory_groups":[{"trajectories":[${'{"a":1},'.repeat(bytes / 8)}`],
  ['job: no text at all', randomBytes(1 + bytes)],
  ['job: of no model', JSON.stringify({ model_id: 'none', trajectory_groups: [] })],
  ['job: groups that are numbers', `{"model_id":"x","trajectory_groups":[${'1,'.repeat(bytes)}1]}`],
];

const BOMB = gzipSync(Buffer.alloc(200_000_000, ' '));
