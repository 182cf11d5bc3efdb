// `whetstone data check FILE`: how a job would read a file of training data, before it is uploaded. Needs no server.
import { counted } from '#base/counted';
import { Option, type Command } from 'commander';
import { settingOption } from '#config/describe-settings';
import type { Flags } from '#config/setting';
import { SETTINGS } from '#config/settings';
import { UsageError } from '#domain/errors';
import type { CheckFileRequest, DataCheck } from '#server/check-data-file';
import type { DataReport, LineProblem, ShownRow, ShownRun } from '#services/jobs/data/check-data';
import { inColumns } from './columns.ts';
import { showBytes } from './download-progress.ts';
import { show, wholeCharacters, withJson, type JsonFlag } from './output.ts';
import { wholeNumber } from './numbers.ts';

const { model, chatTemplate } = SETTINGS;
const OF_MODEL = { model, chatTemplate };

interface CheckFlags extends JsonFlag, Flags<typeof OF_MODEL> {
  readonly rows: number;
  readonly assistantTurns: 'all' | 'last';
  readonly dpo?: true;
}

/** With the settings of `serve` that choose the model. */
export type CheckFile = (request: CheckFileRequest, flags: Flags<typeof SETTINGS>) => Promise<DataCheck>;

export function addData(program: Command, check: CheckFile): void {
  const data = program.command('data').description('look at training data before it is uploaded');
  const command = withJson(data.command('check'))
    .argument('<file>', 'a file with one row per line, as for SFT and DPO jobs')
    .description(
      'show how a job would read the rows of a file: counts, the first rows with their trained tokens between ⟦ and ⟧, and what is odd. ' +
        'Exits with 1 if a job would refuse a line',
    )
    .addOption(
      new Option('--rows <count>', 'how many rows to show with their tokens')
        .argParser(wholeNumber(0, 1_000))
        .default(3),
    )
    .addOption(
      new Option('--assistant-turns <which>', 'which assistant turns are trained, as in the config of an SFT job')
        .choices(['all', 'last'])
        .default('all'),
    )
    .option('--dpo', 'read the rows as a DPO job does: a row with chosen and rejected beside messages is a pair');
  Object.values(OF_MODEL).forEach((each) => command.addOption(settingOption(each).helpGroup('Model, as for serve:')));
  command.action(async (file: string, { rows: shownRows, assistantTurns, dpo, json, ...flags }: CheckFlags) => {
    if (dpo && command.getOptionValueSource('assistantTurns') === 'cli')
      throw new UsageError('--assistant-turns belongs to SFT: leave it out.');
    const { onDone, end } = showBytes();
    const onBytes = (done: number, of: number) => onDone('checking', done, of);
    const request = { file, assistantTurns, shownRows, onBytes, ...(dpo ? { job: 'dpo' as const } : {}) };
    const { report, isTrainable } = await check(request, flags).finally(end);
    show({ ...(json ? { json } : {}) }, forMachines(report), () => forPeople(report));
    if (!isTrainable) process.exitCode = 1;
  });
}

const forMachines = ({ trainedTokens, shown, skipped, ...report }: DataReport) => ({
  ...report,
  trained_tokens: trainedTokens,
  skipped: Object.fromEntries(
    Object.entries(skipped).map(([reason, { rows, firstLine, problem }]) => [
      reason,
      { rows, first_line: firstLine, problem },
    ]),
  ),
  shown: shown.map(({ sequences, ...row }) => ({
    ...row,
    sequences: sequences.map(({ trainedTokens: trained, ...each }) => ({ ...each, trained_tokens: trained })),
  })),
});

const KINDS = { conversation: 'conversation', text: 'plain text', pair: 'preference pair' } as const;

function forPeople(report: DataReport): string[] {
  const { rows, tokens, trainedTokens, longest, invalid, skipped, warnings, shown, model: id } = report;
  const found = Object.entries(rows).filter(([, count]) => count > 0);
  const problems = [
    ...Object.entries(skipped).map(
      ([reason, { rows: count, firstLine, problem }]) =>
        `${counted(count, 'row')} would be skipped (${reason}), first in line ${firstLine}${problem === null ? '.' : `: ${problem}`}`,
    ),
    ...warnings,
    ...(invalid.count > 0
      ? [
          `${counted(invalid.count, 'line')} cannot be read: a job would train nothing.`,
          ...invalid.first.map(lineProblem),
        ]
      : []),
    ...(found.length === 0 && invalid.count === 0 ? ['The file has no rows: a job would train nothing.'] : []),
  ];
  return [
    ...shown.flatMap(rowLines),
    ...inColumns([
      ...found.map(([kind, count]) => ['rows', `${count} (${KINDS[kind as keyof typeof KINDS]})`]),
      ...(found.length === 0 ? [['rows', '0']] : []),
      [
        'tokens',
        `${tokens} with the template of ${id}, ${trainedTokens} of them trained; the longest sequence has ${longest}`,
      ],
    ]),
    ...problems,
    ...(problems.length === 0 && found.length > 0 ? ['Nothing is odd.'] : []),
  ];
}

const lineProblem = ({ line, problem }: LineProblem): string => `  line ${line}: ${problem}`;

const rowLines = ({ line, kind, sequences }: ShownRow): string[] => [
  ...sequences.flatMap(({ tokens, trainedTokens, runs }, i) => [
    `line ${line}${kind === 'pair' ? `, ${i === 0 ? 'chosen' : 'rejected'}` : sequences.length > 1 ? `, sequence ${i + 1} of ${sequences.length}` : ''}: ${trainedTokens} of ${tokens} tokens trained`,
    ...runs
      .map(marked)
      .join('')
      .split('\n')
      .map((text) => `  ${text}`.trimEnd()),
    '',
  ]),
];

/** Context is shortened: what is trained matters. */
const CONTEXT_MAX = 600;
const TRAINED_MAX = 4_000;

const marked = ({ text, trained }: ShownRun): string =>
  trained ? `⟦${shortened(text, TRAINED_MAX)}⟧` : shortened(text, CONTEXT_MAX);

const shortened = (text: string, most: number): string =>
  text.length <= most
    ? text
    : `${wholeCharacters(text.slice(0, most / 2))} … ${wholeCharacters(text.slice(-most / 2))}`;
