// Attacks on sampling, in every protocol that samples: bodies of odd shapes, grammars, templates, prompts and readers.
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { BYTES_MAX, hostileShapes } from '../../test/support/security/hostile-bodies.ts';
import { HI, once, oneOf, type Attack, type HostileClient } from './client.ts';

const STANDING = 8;

const streamOf = (model: string, choices: number) =>
  JSON.stringify({ model, messages: HI, stream: true, n: choices, max_tokens: 200, ignore_eos: true, temperature: 1 });

const asksFor = (name: string, fields: object): Attack => ({ name, attempt: (client) => client.chat(fields) });

const words = (n: number): string[] => Array.from({ length: n }, (_, i) => `word-${i}-${'x'.repeat(i % 20)}`);
const deep = (levels: number): object => {
  let schema: object = { type: 'string' };
  for (let i = 0; i < levels; i++)
    schema = { type: 'object', properties: { a: schema, b: { anyOf: [schema, { type: 'null' }] } } };
  return schema;
};
const kindOf = (i: number) => ({ type: 'object', properties: { kind: { const: `k${i}` } }, required: ['kind'] });
const numbers = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`p${i}`, { type: 'number', minimum: i }]));

const grammar = (name: string, structured_outputs: object) =>
  asksFor(`grammar: ${name}`, { max_tokens: 16, structured_outputs });

const GRAMMARS: readonly Attack[] = [
  grammar('repetitions in repetitions', { regex: '((a{1,200}b{1,200}){1,200}c{1,200}){1,200}' }),
  grammar('a regex of many ways', { regex: '(a|aa|aaa|aaaa|b?b?b?b?)*[^x]{0,2000}(x+x+)+y' }),
  grammar('five thousand choices', { choice: words(5_000) }),
  grammar('a thousand enums', { json: { type: 'array', items: { enum: words(1_000) }, maxItems: 500 } }),
  grammar('a deep schema', { json: deep(10) }),
  grammar('left recursion', { grammar: 'root ::= root "a" | root root | "b" | ""' }),
  grammar('ambiguity', { grammar: 'root ::= s\ns ::= s s | "a" s | s "a" | "a" | ""' }),
  grammar('long strings', { json: { type: 'string', minLength: 10_000, maxLength: 100_000 } }),
  grammar('one of three thousand objects', { json: { oneOf: Array.from({ length: 3_000 }, (_, i) => kindOf(i)) } }),
  grammar('twelve thousand numbers', {
    json: { type: 'object', properties: numbers, required: Object.keys(numbers) },
  }),
  grammar('broken', { grammar: 'root ::= (("a" | ' }),
];

const LOOP = '{% for a in range(99999) %}';
const doubled = (by: string) =>
  `{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ${by} %}{% endfor %}{{ ns.s }}`;
const template = (name: string, chat_template: string) => asksFor(`template: ${name}`, { chat_template });

/** Templates sent with requests, which are rendered if the operator trusts them. */
const TEMPLATES: readonly Attack[] = [
  template('a string that doubles', doubled('ns.s ~ ns.s')),
  template('splits that are joined', doubled("ns.s.split('x') | join('xx')")),
  template('loops in loops', `${LOOP}${LOOP}${LOOP}{% endfor %}{% endfor %}{% endfor %}`),
  template('a long range', '{% for i in range(1000000000) %}{{ i }}{% endfor %}'),
  template('deep', '{% if 1 %}'.repeat(20_000)),
  template('long', '{{ messages[0].content }}'.repeat(100_000)),
];

const LONG = 'hello world '.repeat(1_200_000);
const NESTED = `${'['.repeat(3_000)}${']'.repeat(3_000)}`;
const OTHER_PROTOCOLS: Readonly<Record<string, (model: string) => [path: string, body: string]>> = {
  'completions: long text': (model) => ['/v1/completions', JSON.stringify({ model, prompt: LONG, max_tokens: 1 })],
  'completions: a hundred thousand prompts': (model) => [
    '/v1/completions',
    JSON.stringify({ model, prompt: Array(100_000).fill('a'), max_tokens: 1 }),
  ],
  'messages: many parts': (model) => [
    '/v1/messages',
    JSON.stringify({
      model,
      max_tokens: 1,
      messages: [{ role: 'user', content: Array(60_000).fill({ type: 'text', text: 'a' }) }],
    }),
  ],
  'messages: counting long text': (model) => [
    '/v1/messages/count_tokens',
    JSON.stringify({ model, messages: [{ role: 'user', content: LONG }] }),
  ],
  'responses: many items': (model) => [
    '/v1/responses',
    JSON.stringify({ model, max_output_tokens: 16, input: Array(60_000).fill({ role: 'user', content: 'a' }) }),
  ],
  'responses: long metadata': (model) => [
    '/v1/responses',
    `{"model":"${model}","input":"a","metadata":{"x":${NESTED}}}`,
  ],
  'embeddings: ten thousand inputs': (model) => [
    '/v1/embeddings',
    JSON.stringify({ model, input: Array(10_000).fill('a b c') }),
  ],
  'generate: a million token ids': (model) => [
    '/inference/v1/generate',
    `{"model":"${model}","token_ids":[${'5,'.repeat(1_000_000)}5],"sampling_params":{"max_tokens":1}}`,
  ],
  'tokenize: long text': (model) => ['/tokenize', JSON.stringify({ model, prompt: LONG })],
  'tokenize: no spaces': (model) => ['/tokenize', JSON.stringify({ model, prompt: 'x'.repeat(15_000_000) })],
  'detokenize: two hundred thousand ids': (model) => [
    '/detokenize',
    JSON.stringify({ model, tokens: Array(200_000).fill(5) }),
  ],
};

const leaves = (client: HostileClient, ms: number) =>
  client.onSocket(async (socket) => {
    const body = streamOf(client.model, 8);
    socket.write(client.head('POST', '/v1/chat/completions', Buffer.byteLength(body)) + body);
    socket.resume();
    await delay(ms);
  });

export const chatAttacks = (model: string): readonly Attack[] => [
  ...Object.entries(hostileShapes(model)).map(([name, make]): Attack => {
    const body = once(() => make(BYTES_MAX));
    return { name: `chat: ${name}`, attempt: (client) => client.post('/v1/chat/completions', body()) };
  }),
  ...Object.entries(OTHER_PROTOCOLS).map(([name, make]): Attack => {
    const made = once(() => make(model));
    return { name, attempt: (client) => client.post(...made()) };
  }),
  ...GRAMMARS,
  ...TEMPLATES,
  {
    name: 'a document nested 3,000 deep',
    attempt: (client) => client.post('/v1/chat/completions', `{"model":"${model}","messages":${NESTED}}`),
  },
  {
    name: 'streams left early',
    clients: 4,
    attempt: (client, random) => leaves(client, 500 * random.next()),
  },
  {
    name: 'readers that stand still',
    clients: STANDING,
    attempt: (client) =>
      client.onSocket(async (socket) => {
        const body = streamOf(model, 16);
        socket.write(client.head('POST', '/v1/chat/completions', Buffer.byteLength(body)) + body);
        socket.pause();
        await client.hold(20_000);
      }),
  },
  {
    name: 'bodies that are cut',
    clients: 4,
    attempt: (client, random) =>
      client.onSocket(async (socket) => {
        socket.write(client.head('POST', '/v1/chat/completions', 1_000_000));
        socket.write(Buffer.alloc(1 + random.integer(900_000), '['));
        await delay(200 * random.next());
      }),
  },
  {
    name: 'gzip bombs',
    attempt: (client) =>
      client.send('POST', '/v1/chat/completions', { body: BOMB, headers: { 'content-encoding': 'gzip' } }),
  },
  {
    name: 'a stored response, asked for by many that leave',
    clients: 4,
    expected: '200',
    attempt: (client, random) =>
      client.send('GET', `/v1/responses/${client.response}${oneOf(['', '/input_items?limit=100'], random)}`),
  },
];

const BOMB = gzipSync(Buffer.alloc(200_000_000, ' '));
