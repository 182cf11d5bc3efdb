// The events of a training job as text: one readable line each, or all fields of it. Texts of the server are printed without control
// characters.
import { counted } from '#base/counted';
import type { TrainingEvent, WaitingFor } from '#client/client';
import { printable } from './output.ts';
import { saidByServer } from './routes-as-commands.ts';

export const lineOfWarning = (warning: string): string => `warning: ${saidByServer(printable(warning))}`;

/** A cause that names several faults (lines of a file) has a line for each. */
export const linesOfError = (what: string, message: string): string[] =>
  saidByServer(message)
    .split('\n')
    .map((line, i) => (i === 0 ? `${what}: ${printable(line)}` : `  ${printable(line)}`));

/** Formats the events of one job, in order: a gradient step says of how many it is one. */
export function createEventLines(): (event: TrainingEvent) => string[] {
  let total: number | null = null;
  return ({ type, data }) => {
    const fields = data as Fields;
    if (type === 'training_started') total = stepsOf(fields);
    if (type === 'training_failed')
      return linesOfError('failed', (fields['error_message'] as string | undefined) ?? 'training failed');
    return [lineOf(type, fields, total), ...warningsOf(fields).map(lineOfWarning)];
  };
}

type Fields = Readonly<Record<string, unknown>>;

function lineOf(type: Exclude<TrainingEvent['type'], 'training_failed'>, fields: Fields, total: number | null): string {
  switch (type) {
    case 'training_started':
      return started(fields);
    case 'gradient_step':
      return [`step ${String(fields['gradient_step'])}${total ? `/${total}` : ''}`, ...shown(STEP, fields)].join('  ');
    case 'training_ended':
      return [
        `trained ${counted(Number(fields['num_gradient_steps'] ?? total ?? 0), 'gradient step')}`,
        ...shown(END, fields),
      ].join('  ');
    case 'training_waiting':
      return `waiting: ${waitIn(fields)}`;
  }
}

const waitIn = ({ waiting_for: waits }: Fields): string => saidByServer(printable((waits as WaitingFor).message));

/** Events of older servers have only the older name. */
const stepsOf = (fields: Fields): number | null =>
  Number(fields['num_gradient_steps'] ?? fields['num_sequences']) || null;

/** `240 skipped (equal rewards)`, by reason. */
export const skips = (skipped: Readonly<Record<string, number>>): string[] =>
  Object.entries(skipped).map(([reason, times]) => `${times} skipped (${reason.replaceAll('_', ' ')})`);

function started(fields: Fields): string {
  const count = (name: string, noun: string) =>
    fields[name] === undefined ? [] : [counted(Number(fields[name]), noun)];
  return [
    `training: ${counted(stepsOf(fields) ?? 0, 'gradient step')}`,
    ...count('num_groups_trainable', 'group'),
    ...count('num_trajectories', 'trajectory'),
    ...count('num_rows', 'row'),
    ...count('num_trainable_tokens', 'trained token'),
    ...skips((fields['skipped'] ?? {}) as Readonly<Record<string, number>>),
  ].join(', ');
}

/** Which fields are worth reading on each line, and what they are called there. */
const STEP = {
  loss: 'loss',
  reward: 'reward',
  'val/loss': 'held-out loss',
  'rewards/accuracies': 'right order',
  entropy: 'entropy',
  kl_div: 'kl',
  learning_rate: 'lr',
} as const;
const END = {
  'train/reward': 'reward',
  'train/loss': 'loss',
  'val/loss': 'held-out loss',
  'train/rewards/accuracies': 'right order',
} as const;

const shown = (names: Readonly<Record<string, string>>, fields: Fields): string[] =>
  Object.entries(names).flatMap(([field, name]) => {
    const value = fields[field];
    return typeof value === 'number' ? [`${name} ${short(value)}`] : [];
  });

/** Three digits: `0.015`, `3.8e-4`. */
export function short(value: number): string {
  const rounded = Number(value.toPrecision(3));
  return rounded !== 0 && Math.abs(rounded) < 0.001 ? rounded.toExponential() : String(rounded);
}

/**
 * Everything but the settings of the job, which `whetstone jobs get` shows. A line that is wider than the terminal is broken between
 * fields, so that no number is split.
 */
export function allOfEvent({ type, data }: TrainingEvent, columns = Infinity): string[] {
  if (type === 'training_waiting') return [`${type}  ${waitIn({ ...data })}`];
  const { config: _, rows_digest: __, warnings: ___, ...rest } = data as Fields;
  const fields = Object.entries(rest)
    .filter(([, value]) => JSON.stringify(value) !== '{}')
    .map(
      ([key, value]) =>
        `${key}=${typeof value === 'number' ? Number(value.toPrecision(5)) : printable(JSON.stringify(value))}`,
    );
  return [...wrapped([type, ...fields], columns), ...warningsOf(data as Fields).map(lineOfWarning)];
}

const warningsOf = ({ warnings = [] }: Fields) => warnings as readonly string[];

function wrapped([first = '', ...rest]: readonly string[], columns: number): string[] {
  const lines = [first];
  for (const field of rest) {
    const longer = `${lines.at(-1)}  ${field}`;
    if (longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(`  ${field}`);
  }
  return lines;
}
