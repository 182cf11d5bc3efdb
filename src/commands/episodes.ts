// `whetstone episodes`: begins, lists, shows, rewards and deletes the recorded runs of agents.
import { counted } from '#base/counted';
import { Option, type Command } from 'commander';
import type { EpisodeCall, EpisodeData } from '#client/client';
import { UsageError } from '#domain/errors';
import { wholeNumber } from './numbers.ts';
import { inColumns } from './columns.ts';
import {
  all,
  confirm,
  cut,
  linesOr,
  note,
  printable,
  show,
  table,
  withJson,
  withYes,
  type JsonFlag,
  type YesFlag,
} from './output.ts';
import { getWholeModel, type Remote, type RemoteFlags } from './remote.ts';
import { ago } from './times.ts';

const STATUSES = ['open', 'rewarded', 'trained', 'expired'] as const;

interface NamedFlags extends RemoteFlags, JsonFlag {
  readonly model?: string;
}

interface BeginFlags extends RemoteFlags, JsonFlag {
  readonly name?: string;
  readonly group?: string;
}

interface ListFlags extends NamedFlags {
  readonly group?: string;
  readonly status?: EpisodeData['status'];
  readonly job?: string;
  readonly search?: string;
  readonly limit: number;
}

type Numbers = readonly (readonly [string, number])[];

interface RewardFlags extends NamedFlags {
  readonly metric: Numbers;
  readonly call: Numbers;
  readonly group?: string;
  readonly failed?: boolean;
}

const numberOf = (text: string, what: string): number => {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new UsageError(`${what} must be a number, not "${text}".`);
};

const namedNumber =
  (flag: string) =>
  (text: string, before: Numbers): Numbers => {
    const at = text.lastIndexOf('=');
    if (at < 1) throw new UsageError(`${flag} must be NAME=NUMBER, not "${text}".`);
    return [...before, [text.slice(0, at), numberOf(text.slice(at + 1), flag)]];
  };

export function addEpisodes(program: Command, remote: Remote): void {
  const episodes = program
    .command('episodes')
    .description('recorded runs of agents: begin, list, show, reward, delete');
  const named = (what: string) =>
    withJson(remote.command(episodes, what)).option(
      '--model <name>',
      'the trained model, if several have an episode of this name',
    );
  /** The client, and the model if one was named. */
  async function connect({ model: name, ...flags }: NamedFlags) {
    const client = remote.connect(flags);
    return { client, of: name === undefined ? {} : { modelId: (await getWholeModel(client, name)).id } };
  }

  withJson(remote.command(episodes, 'begin <model>'))
    .description('begin an episode of a model, and print the addresses for its agent')
    .option('--name <name>', 'its name (default: made up)')
    .option('--group <name>', 'its group: episodes at the same task')
    .action(async (modelName: string, { name, group, ...flags }: BeginFlags) => {
      const client = remote.connect(flags);
      const model = await getWholeModel(client, modelName);
      const wanted = { ...(name === undefined ? {} : { name }), ...(group === undefined ? {} : { group }) };
      show(flags, await client.createEpisode({ model_id: model.id, ...wanted }), (made) => [
        ...inColumns([
          ['episode', made.name],
          ['OpenAI clients', made.base_url],
          ['Anthropic clients', made.anthropic_base_url],
        ]),
        ...(made.warnings ?? []),
      ]);
    });

  withJson(remote.command(episodes, 'list'))
    .alias('ls')
    .description('list the newest episodes: name, group, status, reward, calls, trained tokens, and when they began')
    .option('--model <name>', 'only episodes of this model')
    .option('--group <name>', 'only episodes of this group')
    .addOption(new Option('--status <name>', 'only episodes with this status').choices(STATUSES))
    .option('--job <id>', 'only episodes that this training job has used')
    .option('--search <text>', 'only episodes that contain this text: in names, metadata or what was said')
    .option('--limit <count>', 'maximum number of episodes to show', wholeNumber(1), 20)
    .action(async ({ group, status, job, search, limit, ...flags }: ListFlags) => {
      const { client, of } = await connect(flags);
      const filter = {
        ...(of.modelId === undefined ? {} : { model_id: of.modelId }),
        ...(group === undefined ? {} : { group }),
        ...(status === undefined ? {} : { status }),
        ...(job === undefined ? {} : { training_job_id: job }),
        ...(search === undefined ? {} : { search }),
      };
      const found = await all(client.listEpisodes(filter), limit + 1);
      show(flags, found.slice(0, limit), (list) => table('No episodes.', HEADER, list.map(cellsOf)));
      if (found.length > limit) note(`Only the newest ${limit}: show more with --limit.`);
    });

  named('get <id-or-name>')
    .alias('show')
    .description('show an episode and its calls as trees: what was said, tokens, step')
    .action(async (idOrName: string, flags: NamedFlags) => {
      const { client, of } = await connect(flags);
      const { has_more: _, ...episode } = await client.getEpisode(idOrName, of);
      const calls = await all(client.listEpisodeCalls(episode.id));
      show(flags, { ...episode, calls }, () => [
        ...table('', HEADER, [cellsOf(episode)]),
        ...linesOr('No calls.', linesOfCalls(calls)),
      ]);
    });

  named('reward <id-or-name> <reward>')
    .description('reward an episode, which ends it; another reward replaces it until a job has used it')
    .option('--metric <name=number>', 'a number to keep with the reward; may be repeated', namedNumber('--metric'), [])
    .option(
      '--call <answer-id=number>',
      'a reward of one call, in addition to the episode’s; may be repeated',
      namedNumber('--call'),
      [],
    )
    .option('--group <name>', 'put the episode into this group')
    .option('--failed', 'the task failed')
    .action(async (idOrName: string, text: string, { metric, call, group, failed = false, ...flags }: RewardFlags) => {
      const reward = numberOf(text, 'The reward');
      const { client, of } = await connect(flags);
      const given = {
        reward,
        metrics: Object.fromEntries(metric),
        turn_rewards: Object.fromEntries(call),
        status: failed ? ('failed' as const) : ('completed' as const),
        ...(group === undefined ? {} : { group }),
      };
      show(flags, await client.rewardEpisode(idOrName, given, of), ({ name, reward: got }) => [
        `${name}: reward ${got}`,
      ]);
    });

  withYes(named('rm <id-or-name>'))
    .description('delete an episode and its calls')
    .action(async (idOrName: string, flags: NamedFlags & YesFlag) => {
      const { client, of } = await connect(flags);
      const { name, call_count: calls } = await client.getEpisode(idOrName, of);
      await confirm(flags, `Delete the episode ${name} with ${counted(calls, 'call')}?`);
      show(flags, await client.deleteEpisode(idOrName, of), () => [`deleted ${name}`]);
    });
}

const HEADER = ['EPISODE', 'GROUP', 'STATUS', 'REWARD', 'CALLS', 'TRAINED TOKENS', 'BEGAN', 'ID'];

const cellsOf = (episode: EpisodeData): string[] => [
  episode.name,
  episode.group ?? '-',
  episode.status,
  episode.reward === null ? '-' : String(episode.reward),
  String(episode.call_count),
  String(episode.trained_token_count),
  ago(episode.created_at),
  episode.id,
];

/** A deeper tree than this is indented no further. */
const DEPTH_MAX = 12;

interface Placed {
  readonly depth: number;
  /** Of its conversation, those of its parents included. */
  readonly messages: number;
}

/** Parents come first. A call is as deep as branches lead to it: an agent that only goes on stays at the same depth. */
function linesOfCalls(calls: readonly EpisodeCall[]): string[] {
  const placed = new Map<string, Placed>();
  return calls.flatMap((call) => {
    const parent = call.parent_id === null ? undefined : placed.get(call.parent_id);
    const depth = !parent ? 0 : goesOn(call, parent) ? parent.depth : Math.min(DEPTH_MAX, parent.depth + 1);
    placed.set(call.id, { depth, messages: call.shared_messages + (call.messages?.length ?? 0) });
    return linesOfCall(call, depth);
  });
}

/** Also if the answer before it was written anew: many templates leave out what the model thought. */
const goesOn = ({ parent_choice: choice, shared_messages: shared, messages }: EpisodeCall, parent: Placed): boolean =>
  choice !== null || (shared === parent.messages && (messages?.length ?? 0) > 0);

const SHOWN = 100;
const shorten = (text: string): string => cut(printable(text), SHOWN);

function linesOfCall(call: EpisodeCall, depth: number): string[] {
  const indent = '  '.repeat(depth);
  const marks = [
    call.cut ? 'cut' : '',
    call.trained ? '' : 'not trained',
    call.parent_id === null ? 'begins a tree' : '',
  ];
  const about = [
    call.policy_step === null ? call.model : `step ${call.policy_step}`,
    `${call.prompt_tokens} prompt tokens`,
    ...marks.filter((mark) => mark !== ''),
  ];
  return [
    `${indent}${call.answer_id}  ${about.join(', ')}`,
    ...(call.messages ?? []).map((message) => `${indent}  ${String(message['role'])}: ${shorten(saidIn(message))}`),
    ...call.choices.flatMap(({ content, tool_calls: tools, completion_tokens: tokens, finish_reason: reason }) => [
      `${indent}  → ${shorten(content)} (${counted(tokens, 'token')}, ${reason ?? 'cut'})`,
      ...tools.map((tool) => `${indent}    ${tool.name} ${shorten(tool.arguments)}`),
    ]),
  ];
}

/** A message that only calls tools has no text. */
function saidIn({ content, tool_calls: calls }: Readonly<Record<string, unknown>>): string {
  const text = textOf(content);
  if (text !== '' || !Array.isArray(calls)) return text;
  return (calls as { function?: { name?: unknown; arguments?: unknown } }[])
    .map(({ function: called }) => `${String(called?.name)} ${textOf(called?.arguments)}`)
    .join(', ');
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : content == null ? '' : JSON.stringify(content);
