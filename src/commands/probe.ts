// `whetstone probe TASKS --reward MODULE`: samples a few answers to each task, rewards them with the caller's function, and says whether
// RL can learn from that. Reads tasks, the module and the server's answers; probe-report.ts judges them. Trains nothing.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import pTimeout from 'p-timeout';
import { isObject } from '#base/is-object';
import { gather, type Client } from '#client/client';
import { AppError, UsageError } from '#domain/errors';
import { decimal, wholeNumber } from './numbers.ts';
import { show, withJson, type JsonFlag } from './output.ts';
import { linesOfReport, reportOn, spread, type Probe, type ProbedAnswer } from './probe-report.ts';
import { showProgress } from './progress.ts';
import type { Remote, RemoteFlags } from './remote.ts';

interface ProbeFlags extends RemoteFlags, JsonFlag {
  readonly reward: string;
  readonly samples: number;
  readonly limit: number;
  readonly model?: string;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
  readonly success: number;
  readonly show: number;
}

interface Task {
  readonly line: number;
  readonly messages: readonly Message[];
  /** The line as it is written, for the reward. */
  readonly written: Readonly<Record<string, unknown>>;
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** `answer` is the text, `task` the line of the file, `choice` the whole answer with its tool calls. */
type Reward = (answer: string, task: Readonly<Record<string, unknown>>, choice: unknown) => unknown;

/** What this command reads of an answer. */
interface Choice {
  readonly message: { readonly content: string | null };
  readonly finish_reason: string | null;
  readonly token_ids: readonly number[];
}

export function addProbe(program: Command, remote: Remote): void {
  withJson(remote.command(program, 'probe <tasks>'))
    .description(
      'sample answers to the tasks of a .jsonl file, reward them, and say whether RL can learn from them; trains nothing',
    )
    .addHelpText('after', FILES)
    .requiredOption('--reward <module>', 'JavaScript module that exports a function of answer and task')
    .option('--samples <count>', 'answers per task, which are compared with each other', wholeNumber(2), 8)
    .option('--limit <count>', 'maximum number of tasks, taken evenly from the file', wholeNumber(1), 32)
    .option('--model <name>', 'base model, or [entity/]project/name[:stepN] (default: the first that the server hosts)')
    .option('--max-tokens <count>', 'maximum tokens of an answer', wholeNumber(1), 256)
    .option('--temperature <number>', 'randomness from 0 to 2; RL jobs expect 1', decimal(0, 2), 1)
    .option('--seed <number>', 'of the answers; the same seed gives the same answers', wholeNumber(0), 0)
    .option('--success <reward>', 'reward from which an answer counts as a success', decimal(-Infinity), 1)
    .option('--show <count>', 'of how many tasks to print the best and the worst answer', wholeNumber(0), 3)
    .action(async (file: string, flags: ProbeFlags) => {
      const reward = await loadReward(flags.reward);
      const all = await readTasks(file);
      const tasks = spread(all, flags.limit);
      const probe = { ...(await answer(remote.connect(flags), tasks, reward, flags)), tasksInFile: all.length };
      const report = reportOn(probe);
      show(flags, { ...report, groups_of_tasks: groupsOf(probe) }, () => linesOfReport(report, probe, flags.show));
    });
}

const FILES = `
<tasks> has one task per line: messages as for --evaluate, and whatever the reward needs:
  {"messages": [{"role": "user", "content": "What is 2 + 3?"}], "answer": "5"}

--reward is a module such as
  export default (answer, task) => (answer.trim() === task.answer ? 1 : 0);

It gets the text of an answer, the line of the file as an object, and the whole choice with its tool calls. It returns a
number, or a promise of one.`;

const groupsOf = ({ tasks }: Probe) =>
  tasks.map(({ line, answers }) => ({ line, rewards: answers.map(({ reward }) => reward) }));

async function readTasks(file: string): Promise<Task[]> {
  const { readEvaluationLine } = await import('#rows/evaluation');
  const lines = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '').split('\n');
  const tasks = lines.flatMap((text, i): Task[] => {
    if (text.trim() === '') return [];
    const read = readEvaluationLine(text);
    if ('problem' in read) throw new AppError('invalid_request', `${file}, line ${i + 1}: ${read.problem}`);
    const written = JSON.parse(text) as { readonly messages: readonly Message[] };
    const messages = read.prompt.reference === null ? written.messages : written.messages.slice(0, -1);
    return [{ line: i + 1, messages, written: { ...written } }];
  });
  if (tasks.length === 0) throw new AppError('invalid_request', `${file} has no tasks.`);
  return tasks;
}

async function loadReward(file: string): Promise<Reward> {
  await readFile(file); // a missing file is told as such, not as a module that cannot be found
  const loaded: unknown = await import(pathToFileURL(resolve(file)).href).catch((error: unknown) => {
    throw new AppError('invalid_request', `${file} cannot be loaded: ${wordsOf(error)}`);
  });
  const { default: first, reward } = loaded as { readonly default?: unknown; readonly reward?: unknown };
  const found = typeof first === 'function' ? first : reward;
  if (typeof found === 'function') return found as Reward;
  throw new UsageError(
    `${file} must export a function of answer and task, such as \`export default (answer, task) => (answer === task.answer ? 1 : 0);\``,
  );
}

/** A reward may ask another model; it must not hang. */
const REWARD_DEADLINE_MS = 300_000;
/** Requests at a time: enough to fill the batch of a server, few enough to see progress. */
const CONCURRENCY = 8;

async function answer(client: Client, tasks: readonly Task[], reward: Reward, flags: ProbeFlags) {
  const { samples, maxTokens } = flags;
  const stop = new AbortController();
  const found = tasks.map((): ProbedAnswer[] => []);
  let model = flags.model ?? '';
  const { onDone, end } = showProgress();
  onDone('sampling', 0, tasks.length);
  const { failures } = await gather(
    tasks,
    async (task, { group, signal }) => {
      const completion = await client.chat(requestFor(task, group, flags), { signal });
      model = completion.model;
      const rewarded = (completion.choices as unknown as readonly Choice[]).map((choice) =>
        rewardOf(reward, choice, task.written, `the answer to line ${task.line}`),
      );
      found[group] = await Promise.all(rewarded).catch((error: unknown) => {
        stop.abort(error); // sampling again would not mend a reward function
        throw error;
      });
      return [];
    },
    {
      concurrency: CONCURRENCY,
      signal: stop.signal,
      onProgress: ({ done, failed, total }) => onDone('sampling', done + failed, total),
    },
  )
    .catch((error: unknown) => {
      const { cause } = error as Error; // why the first of them failed
      throw !stop.signal.aborted && cause instanceof Error ? cause : error;
    })
    .finally(end);
  const [first] = failures;
  return {
    model,
    samples,
    maxTokens,
    success: flags.success,
    tasks: tasks.map(({ line, messages }, i) => ({ line, prompt: lastWords(messages), answers: found[i]! })),
    problem: first ? `line ${tasks[first.group]!.line}: ${wordsOf(first.error)}` : null,
  };
}

function requestFor({ messages, written: { tools } }: Task, index: number, flags: ProbeFlags) {
  const { samples: n, maxTokens: max_tokens, temperature, seed, model } = flags;
  return {
    ...(model === undefined ? {} : { model }),
    messages,
    ...(tools ? { tools } : {}),
    n,
    max_tokens,
    temperature,
    seed: seed + index * n,
    return_token_ids: true,
  };
}

async function rewardOf(reward: Reward, choice: Choice, task: Task['written'], of: string): Promise<ProbedAnswer> {
  const text = choice.message.content ?? '';
  const given = Promise.resolve().then(() => reward(text, task, choice));
  const message = `The reward of ${of} took longer than ${REWARD_DEADLINE_MS / 1000} s.`;
  const value = await pTimeout(given, { milliseconds: REWARD_DEADLINE_MS, message }).catch((error: unknown) => {
    throw new AppError('invalid_request', `The reward of ${of} failed: ${wordsOf(error)}`);
  });
  if (typeof value !== 'number' && typeof value !== 'boolean')
    throw new AppError('invalid_request', `The reward of ${of} is ${described(value)}, not a number.`);
  if (!Number.isFinite(Number(value)))
    throw new AppError('invalid_request', `The reward of ${of} is ${value}, which no job can train on.`);
  return { text, reward: Number(value), tokens: choice.token_ids.length, isCut: choice.finish_reason === 'length' };
}

const described = (value: unknown): string => (value === undefined ? 'undefined' : JSON.stringify(value));
const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function lastWords(messages: readonly Message[]): string {
  const content = messages.at(-1)?.content;
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? (content as readonly unknown[]) : [];
  return parts.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '…')).join(' ');
}
