// The list of models as text: base models, then trained ones, one line each. Their steps are listed by `whetstone checkpoints list`.
import type { Command } from 'commander';
import type { Client, ModelSummary } from '#client/client';
import { short } from './event-lines.ts';
import { wholeNumber } from './numbers.ts';
import { all, inColumns, note, show, type JsonFlag } from './output.ts';
import type { RemoteFlags } from './remote.ts';
import { ago } from './times.ts';

export interface ListFlags extends RemoteFlags, JsonFlag {
  readonly project?: string;
  readonly search?: string;
  readonly limit: number;
}

export const withFilters = (command: Command): Command =>
  command
    .option('--project <name>', 'only the models of this project')
    .option('--search <text>', 'only models whose project/name contains this text')
    .option('--limit <count>', 'maximum number of trained models to show', wholeNumber(1), 100);

export async function listModels(client: Client, { project, search, limit, ...flags }: ListFlags): Promise<void> {
  const isWhole = project === undefined && search === undefined;
  const bases = isWhole ? await client.listBaseModels() : [];
  const filter = { ...(project === undefined ? {} : { project }), ...(search === undefined ? {} : { search }) };
  const found = await all(client.listModelSummaries(filter), limit + 1);
  const trained = found.slice(0, limit);
  const listed = [...bases.map((id) => ({ id, base_model: null })), ...trained.map(forMachines)];
  show(flags, listed, () => (listed.length === 0 ? ['No models.'] : linesOf(bases, trained)));
  if (found.length > limit) note(`Only the ${limit} latest active: show more with --limit.`);
}

const nameOf = ({ project, name }: ModelSummary): string => `${project}/${name}`;

/** `id` is what chat requests name. */
const forMachines = ({ id, ...model }: ModelSummary) => ({ ...model, id: nameOf({ id, ...model }), model_id: id });

const HEADER = ['MODEL', 'STEP', 'REWARD', 'LAST JOB', 'ACTIVE', 'BASE MODEL'];

const linesOf = (bases: readonly string[], trained: readonly ModelSummary[]): string[] =>
  inColumns([HEADER, ...bases.map((id) => [id, '-', '-', '-', '-', '-']), ...trained.map(cellsOf)]);

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
