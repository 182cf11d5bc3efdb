// The list of models as text: base models, then trained ones, one line each. Their steps are listed by `whetstone checkpoints list`.
import type { Command } from 'commander';
import type { Client, ModelSummary } from '#client/client';
import { short } from './event-lines.ts';
import { wholeNumber } from './numbers.ts';
import { all, note, show, table, type JsonFlag } from './output.ts';
import type { RemoteFlags } from './remote.ts';
import { ago } from './times.ts';
import { toldApart } from './told-apart.ts';

export interface ListFlags extends RemoteFlags, JsonFlag {
  readonly project?: string;
  readonly search?: string;
  readonly tag?: string;
  readonly archived?: boolean;
  readonly limit: number;
}

export const withFilters = (command: Command): Command =>
  command
    .option('--project <name>', 'only the models of this project')
    .option('--search <text>', 'only models whose project/name contains this text')
    .option('--tag <tag>', 'only models with this tag')
    .option('--archived', 'archived models, which are otherwise left out')
    .option('--limit <count>', 'maximum number of trained models to show', wholeNumber(1), 100);

export async function listModels(client: Client, { limit, ...flags }: ListFlags): Promise<void> {
  const { project, search, tag, archived = false } = flags;
  const filter = {
    ...(project === undefined ? {} : { project }),
    ...(search === undefined ? {} : { search }),
    ...(tag === undefined ? {} : { tag }),
    ...(archived ? { archived: 'only' as const } : {}),
  };
  const bases = Object.keys(filter).length === 0 ? await client.listBaseModels() : [];
  const found = await all(client.listModelSummaries(filter), limit + 1);
  const trained = found.slice(0, limit);
  const listed = [...bases.map((id) => ({ id, base_model: null })), ...trained.map(forMachines)];
  show(flags, listed, () => linesOf(bases, trained));
  if (found.length > limit) note(`Only the ${limit} latest active: show more with --limit.`);
}

export const nameOf = ({ project, name }: Pick<ModelSummary, 'project' | 'name'>): string => `${project}/${name}`;

/** `id` is what chat requests name. */
const forMachines = ({ id, ...model }: ModelSummary) => ({ ...model, id: nameOf(model), model_id: id });

const HEADER = ['MODEL', 'STEP', 'REWARD', 'LAST JOB', 'ACTIVE', 'BASE MODEL'];

const NOTE_WIDTH = 40;

/** With their tags and the beginnings of their notes, if one has some. */
function linesOf(bases: readonly string[], trained: readonly ModelSummary[]): string[] {
  const [hasTags, hasNotes] = [trained.some(({ tags }) => tags.length > 0), trained.some(({ note: text }) => text)];
  const header = [...HEADER, ...(hasTags ? ['TAGS'] : []), ...(hasNotes ? ['NOTE'] : [])];
  const labels = ({ tags, note: text }: ModelSummary) => [
    ...(hasTags ? [tags.join(',') || '-'] : []),
    ...(hasNotes ? [toldApart([text ?? '-'], NOTE_WIDTH)[0]!] : []),
  ];
  return table('No models.', header, [
    ...bases.map((id) => [id, ...header.slice(1).map(() => '-')]),
    ...trained.map((model) => [...cellsOf(model), ...labels(model)]),
  ]);
}

function cellsOf(model: ModelSummary): string[] {
  const { latest_step: step, latest_job: job, rewards, created_at: made, base_model: base } = model;
  const reward = rewards.at(-1)?.reward;
  return [
    nameOf(model),
    step === null ? '-' : String(step),
    reward === undefined ? '-' : short(reward),
    job?.status ?? '-',
    ago(job?.training_end ?? job?.created_at ?? made),
    base,
  ];
}
