// `whetstone usage`: tokens and requests, summed by model, key, project or day.
import { InvalidArgumentError, type Command } from 'commander';
import type { UsageAmounts, UsageQuery, UsageSum } from '#client/client';
import { UsageError } from '#domain/errors';
import { wholeNumber } from './numbers.ts';
import { note, printable, show, table, withJson, type JsonFlag } from './output.ts';
import type { Remote, RemoteFlags } from './remote.ts';
import { shortName } from './short-name.ts';

type Part = NonNullable<UsageQuery['by']>[number];

/** What sums tell apart: the header of its column, and its cell. */
const PARTS: Readonly<Record<Part, { readonly header: string; readonly cell: (sum: UsageSum) => string | null }>> = {
  model: { header: 'MODEL', cell: ({ model }) => model && shortName(model) },
  api_key: { header: 'KEY', cell: ({ api_key_id: key }) => key },
  project: { header: 'PROJECT', cell: ({ project }) => project },
  day: { header: 'DAY', cell: ({ date }) => date },
};

const AMOUNTS = ['requests', 'prompt_tokens', 'cached_tokens', 'completion_tokens', 'total_tokens'] as const;
const AMOUNT_HEADER = ['REQUESTS', 'PROMPT', 'CACHED', 'COMPLETION', 'TOKENS'];

interface UsageFlags extends RemoteFlags, JsonFlag {
  readonly by: readonly Part[];
  readonly project?: string;
  readonly keyId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
}

export function addUsage(program: Command, remote: Remote): void {
  withJson(remote.command(program, 'usage'))
    .description('sum the tokens and requests of your team, most tokens first')
    .option(
      '--by <parts>',
      `what to tell apart: a comma-separated list of ${Object.keys(PARTS).join(', ')}`,
      readParts,
      ['model'] satisfies Part[],
    )
    .option('--project <name>', 'only requests with this OpenAI-Project; "" for those without one')
    .option('--key-id <id>', 'only this key; `whetstone keys list` shows the ids')
    .option('--from <day>', 'first day, in UTC, such as 2026-11-21', readDay)
    .option('--to <day>', 'last day, in UTC', readDay)
    .option('--limit <count>', 'maximum number of sums to show', wholeNumber(1, 1_000), 100)
    .action(async ({ by, project, keyId, from, to, limit, ...flags }: UsageFlags) => {
      if (from !== undefined && to !== undefined && to < from)
        throw new UsageError(`--to ${to} is before --from ${from}.`);
      const asked = { project, api_key_id: keyId, start_date: from, end_date: to };
      const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
      const sums = await remote.connect(flags).getUsageSums({ by, limit, ...given });
      show(flags, sums, ({ data, totals }) => linesOfUsage(by, data, totals));
      if (sums.has_more) note(`Only the ${limit} with most tokens: show more with --limit.`);
    });
}

/** A row for each sum, and one for all. */
export function linesOfUsage(by: readonly Part[], sums: readonly UsageSum[], totals: UsageAmounts): string[] {
  const rows = sums.map((sum) => [
    ...by.map((part) => printable(PARTS[part].cell(sum) || '-')),
    ...cellsOfAmounts(sum),
  ]);
  if (sums.length > 0) rows.push(['all', ...by.slice(1).map(() => ''), ...cellsOfAmounts(totals)]);
  return table('No usage.', [...by.map((part) => PARTS[part].header), ...AMOUNT_HEADER], rows);
}

const cellsOfAmounts = (amounts: UsageAmounts): string[] => AMOUNTS.map((name) => String(amounts[name]));

function readParts(text: string): Part[] {
  const parts = text.split(',');
  const isKnown = (part: string): part is Part => Object.hasOwn(PARTS, part);
  if (parts.every(isKnown) && new Set(parts).size === parts.length) return parts;
  throw new InvalidArgumentError(`It must be a comma-separated list of ${Object.keys(PARTS).join(', ')}.`);
}

function readDay(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-11-21.');
}
