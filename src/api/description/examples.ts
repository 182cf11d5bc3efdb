// An example request for every operation: the API reference shows it, and test/service/clients/described.test.ts sends it to a server. The ids
// are those of a model, a job and so on that exist already. Knows no schema.
import { createMessage } from '#services/tinker/protobuf/wire';

const MODEL = 'whetstone/starter';

export const EXAMPLE_IDS = {
  model: '0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01',
  job: '0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02',
  log: '0196f2c6-3e45-7d1b-a2c3-6d8e0f1a2b03',
  response: 'resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04',
  key: '0196f2c8-9aa1-7f3d-86e7-8f0a1b2c3d05',
  episode: '0196f2d0-1a2b-7c3d-8e4f-5a6b7c8d9e10',
  webhook: '0196f2c9-c4b3-7a4e-98f9-9a1b2c3d4e06',
  delivery: 'msg_0196f2ca-d5c4-7b5f-aa0b-ab2c3d4e5f07',
  after: '0196f2cb-e6d5-7c60-bb1c-bc3d4e5f6a08',
  session: '0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09',
  link: 'WyJkZWZhdWx0Il0.c2lnbmF0dXJl',
} as const;

/** Ids within that session: Tinker clients compute them. */
const TINKER_RUN = `${EXAMPLE_IDS.session}:train:0`;
const SAMPLER = `${EXAMPLE_IDS.session}:sampler:0`;

/** SHA-256 of the file in `FILE_EXAMPLE`. */
const SHA256 = '73cf956471f1334738f9271e8bba0faa214e7d30afbec13e9af7b64ef48efd59';

const SAVED = `tinker://${TINKER_RUN}/weights/sums`;

export const FILE_EXAMPLE =
  '{"messages": [{"role": "user", "content": "Say yes."}, {"role": "assistant", "content": "yes"}]}\n';

/** By parameter name; `Tag/name` for exceptions. */
export const PARAMETER_EXAMPLES: Readonly<Record<string, unknown>> = {
  model: MODEL,
  base_model: MODEL,
  model_id: EXAMPLE_IDS.model,
  training_job_id: EXAMPLE_IDS.job,
  log_id: EXAMPLE_IDS.log,
  response_id: EXAMPLE_IDS.response,
  key_id: EXAMPLE_IDS.key,
  api_key_id: EXAMPLE_IDS.key,
  episode: EXAMPLE_IDS.episode,
  webhook_id: EXAMPLE_IDS.webhook,
  delivery_id: EXAMPLE_IDS.delivery,
  after: EXAMPLE_IDS.after,
  starting_after: 0,
  after_id: 'whetstone/starter',
  before_id: 'whetstone/starter',
  'lifecycle[]': 'active',
  stream: false,
  limit: 20,
  order: 'desc',
  sort: 'size',
  entity: '~',
  'W&B/entity': 'default',
  project: 'demo',
  name: 'sums',
  kind: 'weights',
  link: EXAMPLE_IDS.link,
  search: 'sum',
  steps_of: 'demo/sums',
  tag: 'best',
  archived: 'include',
  status: 'succeeded',
  group: 0,
  'Episodes/group': 'sum-37',
  'Episodes/status': 'rewarded',
  reward_min: 0.5,
  reward_max: 1,
  step: 1,
  split: 'val',
  view: 'summary',
  format: 'json',
  artifact: 'questions',
  path: 'train.jsonl',
  'W&B/path': 'call/upsert_batch',
  type: 'dataset',
  'Training jobs/type': 'rl',
  'Runs/search': 'first',
  'Runs/state': 'running',
  points: 100,
  by: 'model,api_key',
  alias: 'best',
  sha256: SHA256,
  assistant_turns: 'last',
  run: 'first-run',
  session_id: EXAMPLE_IDS.session,
  run_id: TINKER_RUN,
  sampler_id: SAMPLER,
  offset: 0,
  access_scope: 'owned',
  project_id: 'demo',
  start_date: '2026-11-01',
  end_date: '2026-11-30',
  file: 'index.js',
  'X-Whetstone-Episode': 'task-17-run-1',
  'X-Whetstone-Group': 'task-17',
  'X-Whetstone-Train': 'false',
  'Idempotency-Key': '7d6f0b1e-4c1c-4a55-9d4f-1f0a2b3c4d5e',
  'Content-Range': `bytes 0-${FILE_EXAMPLE.length - 1}/${FILE_EXAMPLE.length}`,
};

const QUESTION = { role: 'user', content: 'What is 23 + 14?' };

const token = (text: string, logprob: number) => ({
  token: text,
  logprob,
  bytes: [...Buffer.from(text)],
  top_logprobs: [],
});

/** The answer of the starter model: one token per digit, then the end of the turn. */
const answer = (content: string, reward: number) => ({
  messages_and_choices: [
    QUESTION,
    {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content },
      logprobs: { content: [...[...content].map((digit) => token(digit, -0.7)), token('<|im_end|>', -0.01)] },
    },
  ],
  reward,
});

const GROUPS = [{ trajectories: [answer('37', 1), answer('36', 0)] }];

/**
 * A ForwardBackwardRequest: after the tokens 5 and 6 come 6 and 7, each with the weight 0.5. All its bytes are below 128, so this text
 * is the message.
 */
function forwardBackwardExample(): string {
  const floats = (values: readonly number[]) => new Uint8Array(Float32Array.from(values).buffer);
  const integers = (values: readonly bigint[]) => new Uint8Array(BigInt64Array.from(values).buffer);
  const [FLOAT32, INT64] = [1, 2];
  const tokens = createMessage().bytes(1, new Uint8Array(Int32Array.from([5, 6]).buffer));
  const input = (name: string, values: Uint8Array, type: number) => {
    const tensor = createMessage().message(1, values).integer(3, type).integers(4, [2]);
    return createMessage().text(1, name).message(2, tensor.done()).done();
  };
  const datum = createMessage()
    .message(1, createMessage().message(1, tokens.done()).done())
    .message(2, input('target_tokens', integers([6n, 7n]), INT64))
    .message(2, input('weights', floats([0.5, 0.5]), FLOAT32));
  const request = createMessage().text(1, TINKER_RUN).integer(2, 1).message(3, datum.done()).text(4, 'cross_entropy');
  return Buffer.from(request.done()).toString('latin1');
}

/** By method and path. */
export const BODY_EXAMPLES: Readonly<Record<string, unknown>> = {
  'POST /v1/chat/completions': { model: MODEL, messages: [QUESTION], max_tokens: 16, temperature: 0 },
  'POST /inference/v1/generate': {
    model: MODEL,
    token_ids: [1, 2, 3],
    sampling_params: { max_tokens: 8, temperature: 0, logprobs: 1 },
  },
  'POST /v1/completions': { model: MODEL, prompt: 'One, two, three,', max_tokens: 8, temperature: 0 },
  'POST /v1/messages': { model: MODEL, messages: [QUESTION], max_tokens: 16 },
  'POST /v1/messages/count_tokens': { model: MODEL, messages: [QUESTION] },
  'POST /v1/responses': { model: MODEL, input: QUESTION.content, max_output_tokens: 16, store: true },
  'POST /v1/responses/input_tokens': { model: MODEL, input: QUESTION.content },
  'POST /v1/embeddings': { model: MODEL, input: ['a text', 'another'] },
  'POST /tokenize': { model: MODEL, messages: [QUESTION] },
  'POST /detokenize': { model: MODEL, tokens: [5, 6, 7] },
  'POST /v1/preview/episodes': {
    model_id: EXAMPLE_IDS.model,
    name: 'sum-37-1',
    group: 'sum-37',
    metadata: { seed: 7 },
  },
  'POST /v1/preview/episodes/{episode}/reward': { reward: 1, metrics: { digits: 2 }, status: 'completed' },
  'POST /v1/preview/models': { project: 'demo', name: 'sums', base_model: MODEL },
  'DELETE /v1/preview/models/{model_id}/checkpoints': { steps: [1] },
  'PUT /v1/preview/models/{model_id}/save-policy': {
    save_policy: { save_total_limit: 3, metric_for_best_model: 'val/reward' },
  },
  'PUT /v1/preview/models/{model_id}/labels': { tags: ['best'], note: 'Learned in ten steps.' },
  'PUT /v1/preview/models/{model_id}/online-training': {
    groups_per_step: 16,
    group_size_min: 4,
    until_step: 100,
    experimental_config: { learning_rate: 0.002 },
  },
  'POST /v1/preview/models/{model_id}/log': { split: 'val', trajectory_groups: GROUPS },
  'POST /v1/preview/training-jobs': {
    model_id: EXAMPLE_IDS.model,
    trajectory_groups: GROUPS,
    experimental_config: { learning_rate: 0.002 },
    evaluation: { prompts: [{ messages: [QUESTION] }], max_tokens: 8 },
  },
  'POST /v1/preview/sft-training-jobs': {
    model_id: EXAMPLE_IDS.model,
    training_data_url: 'wandb-artifact:///default/demo/questions:latest',
    config: { epochs: 4, validation_split: 0.1, eval_steps: 20, early_stopping_patience: 3 },
  },
  'POST /v1/preview/dpo-training-jobs': {
    model_id: EXAMPLE_IDS.model,
    training_data_url: 'wandb-artifact:///default/demo/pairs:latest',
    config: { beta: 0.1, epochs: 2 },
  },
  'PUT /v1/artifacts/{entity}/{project}/{artifact}': {
    type: 'dataset',
    aliases: ['best'],
    files: [{ path: 'train.jsonl', sha256: SHA256 }],
  },
  'POST /v1/keys': { name: 'a laptop', scopes: ['chat', 'read'], limits: { tokens_per_day: 1_000_000 } },
  'POST /v1/webhooks': { url: 'https://example.com/jobs', events: ['training_job.succeeded'] },
  'POST /graphql': {
    query: 'query Run($name: String!) { project(name: "demo", entityName: "default") { run(name: $name) { name } } }',
    variables: { name: 'first-run' },
    operationName: 'Run',
  },
  'POST /files/{entity}/{project}/{run}/file_stream': {
    files: {
      'wandb-history.jsonl': { offset: 2, content: ['{"_step":2,"loss":0.9}'] },
      'wandb-summary.json': { offset: 0, content: ['{"_step":2,"loss":0.9}'] },
    },
  },
  'POST /tinker/api/v1/client/config': { sdk_version: '0.38.0' },
  'POST /tinker/api/v1/client/dynamic_config': { sdk_version: '0.38.0' },
  'POST /tinker/api/v1/telemetry': { events: [], session_id: EXAMPLE_IDS.session },
  'POST /tinker/api/v1/create_session': { tags: ['sums'], user_metadata: { owner: 'me' }, sdk_version: '0.38.0' },
  'POST /tinker/api/v1/session_heartbeat': { session_id: EXAMPLE_IDS.session },
  'POST /tinker/api/v1/create_model': {
    session_id: EXAMPLE_IDS.session,
    model_seq_id: 0,
    base_model: MODEL,
    lora_config: { rank: 8, seed: 1 },
  },
  'POST /tinker/api/v1/sessions/{session_id}/finish': { reason: { type: 'success' } },
  'POST /tinker/api/v1/load_weights': {
    session_id: EXAMPLE_IDS.session,
    model_seq_id: 1,
    path: SAVED,
    optimizer: true,
  },
  'POST /tinker/api/v1/forward_backward': forwardBackwardExample(),
  'POST /tinker/api/v1/get_info': { model_id: TINKER_RUN },
  'POST /tinker/api/v1/optim_step': { model_id: TINKER_RUN, seq_id: 2, adam_params: { learning_rate: 0.0001 } },
  'POST /tinker/api/v1/save_weights': { model_id: TINKER_RUN, seq_id: 3, path: 'sums', ttl_seconds: 86_400 },
  'POST /tinker/api/v1/save_weights_for_sampler': { model_id: TINKER_RUN, seq_id: 4, path: 'sums' },
  'POST /tinker/api/v1/save_weights_external': { model_id: TINKER_RUN, seq_id: 5, path: 'sums' },
  'POST /tinker/api/v1/create_sampling_session': {
    session_id: EXAMPLE_IDS.session,
    sampling_session_seq_id: 0,
    base_model: MODEL,
  },
  'POST /tinker/api/v1/asample': {
    sampling_session_id: SAMPLER,
    seq_id: 0,
    prompt: { chunks: [{ type: 'encoded_text', tokens: [5, 6, 7] }] },
    sampling_params: { max_tokens: 8, temperature: 0 },
  },
  'PUT /tinker/api/v1/training_runs/{run_id}/checkpoints/{kind}/{name}/ttl': { ttl_seconds: 86_400 },
  'POST /tinker/api/v1/weights_info': { tinker_path: SAVED },
  'POST /tinker/api/v1/retrieve_future': { request_id: `${TINKER_RUN}/0` },
};
