// What fills the lists of a server that has been used for long, beside its models and jobs: episodes, runs, versions of artifacts, held-out
// answers, workers. Rows are written straight to the database, as by full-server.ts; an episode with its calls and the answers go through
// what stores them. Workers say hello and do nothing.
import { Kysely, sql, type RawBuilder } from 'kysely';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { readWorkerModel } from '#engine/workers/worker-model';
import { packContent } from '#services/episodes/call-content';
import { putAnswers, putEvaluationBody } from '#services/evaluations/stored-answers';
import type { BlobStore } from '#storage/blobs';
import { createEpisodeStore } from '#storage/sql/episodes';
import type { Tables } from '#storage/sql/rows';
import type { RunningServer } from '../examples/shared/server.ts';
import { sayHello } from '../test/support/workers/by-hand.ts';
import { EVERYTHING } from '../test/support/workers/worker-lab.ts';

export const LISTS = {
  episodes: 100_000,
  callsOfOne: 400,
  runs: 3_000,
  runProjects: 60,
  linesOfOne: 20_000,
  versions: 10_000,
  evaluations: 200,
  prompts: 300,
  workers: 64,
};

/** The episode with calls. */
export const LONG_EPISODE = 'long-episode';
export const RUN = { project: 'run-project-1', name: 'run-1' };
const MINUTE_MS = 60_000;
const PAYER = { keyId: 'k', keyBytesMax: null, entityBytesMax: null };
const BOUNDS = { openMax: 1_000_000, callsMax: 1_000_000, tokensMax: 1_000_000_000 };

/** 1, 2, 3 … as rows of `n(i)`. */
export const numbers = (count: number): RawBuilder<unknown> =>
  sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(count)}) select i from n) as n`;

/** `longest`: the model with the most steps, whose step `n` the job `l-n` made. */
export async function seedLists(db: Kysely<Tables>, blobs: BlobStore, longest: string, nowMs: number): Promise<void> {
  await seedEpisodes(db, longest, nowMs);
  await seedRuns(db, nowMs);
  await seedVersions(db, nowMs);
  await seedAnswers(db, blobs, longest, nowMs);
}

async function seedEpisodes(db: Kysely<Tables>, modelId: string, nowMs: number): Promise<void> {
  const now = sql.lit(nowMs);
  const at = sql`${now} - (${sql.lit(LISTS.episodes)} - i) * 1000`;
  await sql`insert into episodes (id, ordinal, entity, model_id, name, group_name, status, outcome, reward, metrics, turn_rewards, metadata,
      created_at_ms, last_call_at_ms, rewarded_at_ms, active_at_ms, trained_by, call_count, token_count, trained_token_count, call_bytes)
    select printf('%08x-0000-4000-8000-000000000000', i), i, 'default', 'm-' || (1 + i % 20), 'attempt-' || i, 'task-' || (i / 8),
      case when i % 50 = 0 then 'open' when i % 7 = 0 then 'rewarded' else 'trained' end, 'completed', (i * 7919) % 97 / 97.0,
      '{"tests":3}', '{}', json_object('seed', i), ${at}, ${at}, ${at}, ${now}, case when i % 7 = 0 then null else 'l-1' end, 4, 900, 300, 5000
    from ${numbers(LISTS.episodes)}`.execute(db);
  const store = createEpisodeStore(db);
  const of = { id: LONG_EPISODE, entity: 'default', modelId, name: LONG_EPISODE, groupName: null, metadata: {} };
  for (let turn = 0; turn < LISTS.callsOfOne; turn++) {
    const messages = [
      ...(turn === 0 ? [{ role: 'system' as const, content: 'You mend programs.' }] : []),
      { role: 'user' as const, content: `Result ${turn}: three tests fail. `.repeat(20) },
    ];
    const answers = [{ content: `Then line ${turn} is wrong. `.repeat(20), reasoning: '', calls: [] }];
    const sharedMessages = turn === 0 ? 0 : 2 * turn;
    const said = { messages, tools: null, sampling: {}, template: {}, answers, sharedMessages, sharesTools: true };
    const call = {
      ...{ id: `call-${turn}`, answerId: `chatcmpl-${turn}`, model: 'default/project-1/model-1:step1', policyStep: 1 },
      ...{ isTrainable: true, isCut: false, reshapedBy: [], parentId: turn === 0 ? null : `call-${turn - 1}` },
      choices: [{ tokenCount: 0, finishReason: 'stop' as const, isConstrained: false }],
      ...{ parentChoice: turn === 0 ? null : 0, sharedTokenCount: 0, promptTokenCount: 0, createdAtMs: nowMs },
      ...{ tokens: new Uint8Array(), content: await packContent(said) },
    };
    const { outcome } = await store.capture(call, of, BOUNDS, PAYER);
    if (outcome !== 'stored') throw new Error(`a call was not stored: ${outcome}`);
  }
}

async function seedRuns(db: Kysely<Tables>, nowMs: number): Promise<void> {
  const inFirst = LISTS.runs - LISTS.runProjects;
  const at = sql`${sql.lit(nowMs)} - (${sql.lit(LISTS.runs)} - i) * ${sql.lit(MINUTE_MS)}`;
  const config = sql`json_object('lr', 0.0001 * (1 + i % 9), 'rank', 8 * (1 + i % 4), 'seed', i, 'optimizer', json_object('beta1', 0.9, 'beta2', 0.99))`;
  await sql`insert into runs (id, ordinal, entity, project, name, display_name, tags, config, summary, state, history_lines, history_bytes, created_at_ms, updated_at_ms)
    select 'run-id-' || i, i, 'default', 'run-project-' || case when i <= ${sql.lit(inFirst)} then 1 else i - ${sql.lit(inFirst)} + 1 end, 'run-' || i, 'sweep ' || i,
      '["sweep"]', ${config}, json_object('loss', 1.0 / i, 'accuracy', (i * 31) % 97 / 97.0), case when i % 40 = 0 then 'failed' else 'finished' end,
      case when i = 1 then ${sql.lit(LISTS.linesOfOne)} else 0 end, 100, ${at}, ${at} + 30000 from ${numbers(LISTS.runs)}`.execute(
    db,
  );
  await sql`insert into run_history (run_id, line, content)
    select 'run-id-1', i - 1, json_object('_step', i - 1, '_runtime', i, 'loss', 1.0 / i + (i * 31) % 17 / 100.0, 'accuracy', 1 - 1.0 / i, 'lr', 0.0001)
    from ${numbers(LISTS.linesOfOne)}`.execute(db);
}

async function seedVersions(db: Kysely<Tables>, nowMs: number): Promise<void> {
  const files = sql`1 + i % 3`;
  await sql`insert into artifact_contents (entity, sha256, size_bytes, blob, used_at_ms) values ('default', 'x', 1, 'artifacts/x', ${sql.lit(nowMs)})`.execute(
    db,
  );
  await sql`insert into artifacts (id, ordinal, entity, project, name, version, type, metadata, digest, created_at_ms, file_count, size_bytes)
    select printf('%08x-0000-4000-9000-000000000000', i), i, 'default', 'project-' || (i % 20), 'rows-' || (i % 100), i / 100, 'dataset', '{"rows":100}', 'd' || i,
      ${sql.lit(nowMs)} - (${sql.lit(LISTS.versions)} - i) * 1000, ${files}, (${files}) * (1000 + (i * 7919) % 100000) from ${numbers(LISTS.versions)}`.execute(
    db,
  );
  await sql`insert into artifact_files (artifact_id, path, entity, sha256, size_bytes)
    select a.id, 'part-' || n.i || '.jsonl', 'default', 'x', a.size_bytes / a.file_count from artifacts a join ${numbers(3)} on n.i <= a.file_count`.execute(
    db,
  );
}

/** The last of the evaluations has its answers. */
async function seedAnswers(db: Kysely<Tables>, blobs: BlobStore, modelId: string, nowMs: number): Promise<void> {
  const { prompts, evaluations } = LISTS;
  const now = sql.lit(nowMs);
  await sql`insert into evaluations (job_id, model_id, entity, key_id, status, attempt, cancel_requested, prompt_count, sample_count, answered_count, failed_count, is_kept, created_at_ms, started_at_ms, ended_at_ms)
    select 'l-' || i, ${sql.lit(modelId)}, 'default', 'k', 'succeeded', 1, 0, ${sql.lit(prompts)}, 1, ${sql.lit(prompts)}, 0, 1, ${now} + i, ${now}, ${now} from ${numbers(evaluations)}`.execute(
    db,
  );
  const job = { jobId: `l-${evaluations}`, modelId };
  const settings = { samples: 1, maxTokens: 64, temperature: 1, topP: null, stop: [], seed: 0, chatTemplateKwargs: {} };
  const asked = Array.from({ length: prompts }, (_, at) => ({
    messages: [{ role: 'user' as const, content: `What is ${at} + 1?` }],
    ...{ tools: null, reference: null, metadata: { at } },
  }));
  await putEvaluationBody(blobs, job, { settings, source: null, prompts: asked });
  for (let at = 0; at < prompts; at++) {
    const message = { role: 'assistant' as const, content: `It is ${at + 1}.` };
    const answer = { message, finishReason: 'stop', tokenIds: [1, 2, 3], logprobs: [-0.1, -0.2, -0.3] };
    await putAnswers(blobs, job, at, { answers: [answer], error: null });
  }
}

/** To a server with `--worker-model whetstone/starter`. They stay until this process ends. */
export async function connectWorkers({ url, apiKey }: RunningServer): Promise<void> {
  const model = await readWorkerModel('whetstone/starter', STARTER_DIRECTORY);
  const hands = Array.from({ length: LISTS.workers }, (_, at) =>
    sayHello(
      { url, model, capabilities: EVERYTHING },
      { worker: { id: `w-${at}`, name: `gpu-${at}`, version: '1' } },
      apiKey,
    ),
  );
  for (const { came, closed } of await Promise.all(hands)) {
    const isWelcome = async () => {
      while (came.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      return null;
    };
    const refused = await Promise.race([closed, isWelcome()]);
    if (refused !== null) throw new Error(`a worker was refused: ${refused}`);
  }
}
