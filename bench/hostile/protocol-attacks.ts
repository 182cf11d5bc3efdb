// Requests of every protocol whose parts multiply each other, or are long lists.
import { HI, type Attack } from './client.ts';
import { many, post } from './forms.ts';

/** The stored response has 10 MB. */
const chained = (name: string, expected: string, keptBytes: number): Attack => ({
  ...post(`responses: a chain of ${name}`, '/v1/responses', ({ model, response }) => ({
    ...{ model, previous_response_id: response, max_output_tokens: 1 },
    input: [{ type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(keptBytes) }, ...HI],
  })),
  expected,
});

export const protocolAttacks = (): readonly Attack[] => [
  post(
    'completions: prompts times choices',
    '/v1/completions',
    ({ model }) => ({ model, prompt: many(64, (i) => `${i} is `), n: 2, max_tokens: 2, logprobs: 5, echo: true }),
    2,
  ),
  post('messages: a hundred thousand stops', '/v1/messages', ({ model }) => ({
    model,
    max_tokens: 1,
    messages: HI,
    stop_sequences: many(100_000, (i) => `s${i}`),
  })),
  post('messages: a long system prompt in parts', '/v1/messages', ({ model }) => ({
    model,
    max_tokens: 1,
    messages: HI,
    system: many(50_000, () => ({ type: 'text', text: 'a' })),
  })),
  post(
    'responses: kept ones in the background',
    '/v1/responses',
    ({ model }) => ({ model, input: 'a', max_output_tokens: 16, background: true, store: true }),
    4,
  ),
  chained('as much as is read', '200', 3_000_000),
  chained('more than is read', '400', 8_000_000),
  post('responses: what to include, a hundred thousand times', '/v1/responses', ({ model }) => ({
    model,
    input: 'a',
    include: many(100_000, () => 'message.output_text.logprobs'),
  })),
  post('embeddings: long texts, as many as are read', '/v1/embeddings', ({ model }) => ({
    model,
    input: many(48, () => 'one two three '.repeat(300)),
    encoding_format: 'base64',
  })),
  post('generate: choices times log-probabilities', '/inference/v1/generate', ({ model }) => ({
    model,
    token_ids: many(1_000, (i) => i % 300),
    sampling_params: { n: 64, max_tokens: 4, logprobs: 20, prompt_logprobs: 20 },
  })),
  post('tokenize: pieces of a long text', '/tokenize', ({ model }) => ({
    model,
    prompt: 'ab '.repeat(600_000),
    return_token_strs: true,
  })),
  post('detokenize: numbers that are none', '/detokenize', ({ model }) => ({
    model,
    tokens: many(400_000, (i) => i + 0.5),
  })),
  post('keys: a million scopes', '/v1/keys', () => ({ name: 'x', scopes: many(900_000, () => 'chat') })),
  post('webhooks: a long list of events', '/v1/webhooks', () => ({
    url: `http://127.0.0.1:9/${'a'.repeat(100_000)}`,
    events: many(400_000, () => 'job.succeeded'),
  })),
  post('graphql: wide variables', '/graphql', () => ({
    query: 'query($x: JSONString) { __typename }',
    variables: Object.fromEntries(many(200_000, (i) => [`k${i}`, { i }])),
  })),
  post('graphql: a run with a wide configuration', '/graphql', () => ({
    query:
      'mutation($c: JSONString) { upsertBucket(input: {name: "wide", modelName: "hostile", config: $c, summaryMetrics: $c}) { inserted } }',
    variables: { c: JSON.stringify(Object.fromEntries(many(60_000, (i) => [`k${i}`, i]))) },
  })),
  post('a file stream far beyond its end', '/files/default/hostile/r/file_stream', () => ({
    files: {
      'wandb-history.jsonl': { offset: 1e15, content: many(1_000, () => '{}') },
      'wandb-summary.json': { offset: 0, content: ['{}'] },
    },
  })),
  post('a file stream over its own lines', '/files/default/hostile/r/file_stream', () => ({
    files: { 'wandb-history.jsonl': { offset: 0, content: many(20_000, (i) => `{"_step":${i}}`) } },
  })),
  post('tinker: a long prompt in tiny chunks', '/tinker/api/v1/asample', ({ sampler }) => ({
    sampling_session_id: sampler,
    seq_id: 1,
    num_samples: 1,
    prompt: { chunks: many(9_000, () => ({ type: 'encoded_text', tokens: [1] })) },
    sampling_params: { max_tokens: 1 },
  })),
  post('tinker: a hundred thousand data as JSON', '/tinker/api/v1/forward_backward', ({ run }) => ({
    model_id: run,
    seq_id: 500,
    forward_backward_input: {
      loss_fn: 'cross_entropy',
      data: many(100_000, () => ({
        model_input: { chunks: [{ type: 'encoded_text', tokens: [1, 2] }] },
        loss_fn_inputs: {},
      })),
    },
  })),
];
