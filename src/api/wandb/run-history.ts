// The history of a run as the library queries it: a range of steps, of which it reads evenly sampled lines, all of them or those that have
// all of the given keys. Steps increase with the lines, so a range is found by binary search.
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';
import type { HistoryLine, Run } from '#domain/run';
import { quoteBare, readLoggedObject, valueAt } from '#services/runs/run-json';
import type { RequestContext } from './request-context.ts';

const PAGE = 1_000;
const SAMPLES_MAX = 10_000;
/** Of a longer range, only every second line is searched for keys, every third, and so on. */
const SCANNED_LINES_MAX = 50_000;
const SPECS_MAX = 10;

export function runHistoryFields({ caller, budget, services: { runs } }: RequestContext, run: Run) {
  const read = (from: number, limit: number) => runs.history(caller, run, from, limit);

  async function* lines({ from, to }: Lines): AsyncGenerator<HistoryLine> {
    const yieldToLoop = createYielder();
    for (let next = from; next < to;) {
      const page = await read(next, Math.min(PAGE, to - next));
      for (const line of page) {
        if (line.line >= to) return;
        yield line;
        await yieldToLoop();
      }
      if (page.length === 0) return; // otherwise a page of long lines is shorter, and more follow
      next = page.at(-1)!.line + 1;
    }
  }

  /** The lines with these numbers, ascending. One that never arrived is left out. */
  async function* numbered(numbers: readonly number[]): AsyncGenerator<HistoryLine> {
    const pages = (numbers.at(-1)! - numbers[0]!) / PAGE;
    const atOnce = numbers.length < pages ? 1 : PAGE; // the fewer reads
    let page: readonly HistoryLine[] = [];
    for (const number of numbers) {
      if (!page.length || page.at(-1)!.line < number) page = await read(number, atOnce);
      const line = page.find((each) => each.line === number);
      if (line) yield line;
    }
  }

  async function firstLineAt(step: number): Promise<number> {
    let [low, high] = [0, run.historyLines];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [line] = await read(middle, 1);
      if (line && stepOf(line) < step) low = line.line + 1;
      else high = middle;
    }
    return low;
  }

  /** From the first step to the second, which is not in it. */
  async function linesBetween(step: unknown, end: number | null): Promise<Lines> {
    const from = Number(step ?? 0) > 0 ? await firstLineAt(Number(step)) : 0;
    return { from, to: end === null ? run.historyLines : await firstLineAt(end) };
  }

  return {
    /** Where a scan ends. */
    async historyKeys() {
      const [last] = run.historyLines === 0 ? [] : await read(run.historyLines - 1, 1);
      return { lastStep: last ? stepOf(last) : -1, keys: {}, sets: [] };
    },

    /** `maxStep` is not in the range: the next page of a scan begins there. */
    async history({ minStep, maxStep, samples }: { minStep?: unknown; maxStep?: unknown; samples?: number }) {
      const { from, to } = await linesBetween(minStep, (maxStep ?? null) === null ? null : Number(maxStep));
      const picked = evenly(Math.max(0, to - from), countOf(samples, PAGE)).map((at) => from + at);
      const found: string[] = [];
      if (picked.length > 0) for await (const { content } of numbered(picked)) found.push(show(content));
      return found;
    },

    async sampledHistory({ specs }: { specs: readonly string[] }) {
      if (specs.length > SPECS_MAX)
        throw new AppError('invalid_request', `Ask for at most ${SPECS_MAX} specs at once.`, { param: 'specs' });
      const all: unknown[] = [];
      for (const text of specs) all.push(await sample(readLoggedObject(text) ?? {}));
      return all;
    },

    parquetHistory: { parquetUrls: [], liveData: [] },
  };

  function show(content: string): string {
    budget.text.spend(content.length);
    return quoteBare(content);
  }

  /** `maxStep` is in the range, unlike above. Only what is shown counts, so that one key of many long lines can be read. */
  async function sample(spec: Readonly<Record<string, unknown>>): Promise<unknown[]> {
    const keys = Array.isArray(spec.keys) ? spec.keys.map(String) : [];
    const range = await linesBetween(spec.minStep, (spec.maxStep ?? null) === null ? null : Number(spec.maxStep) + 1);
    const stride = Math.ceil((range.to - range.from) / SCANNED_LINES_MAX) || 1;
    const having: number[] = [];
    for await (const { line, content } of lines(range)) {
      if ((line - range.from) % stride !== 0) continue;
      const row = readLoggedObject(content);
      if (row && keys.every((key) => valueAt(row, key) !== undefined)) having.push(line);
    }
    const picked = evenly(having.length, countOf(Number(spec.samples ?? 500), 500)).map((at) => having[at]!);
    const rows: unknown[] = [];
    if (picked.length === 0) return rows;
    for await (const { content } of numbered(picked)) {
      const row = readLoggedObject(content) ?? {};
      const shown = keys.length > 0 ? Object.fromEntries(keys.map((key) => [key, valueAt(row, key)])) : row;
      budget.text.spend(keys.length > 0 ? JSON.stringify(shown).length : content.length);
      rows.push(shown);
    }
    return rows;
  }
}

/** Numbers of lines: from the first up to the second, which is not one of them. */
interface Lines {
  readonly from: number;
  readonly to: number;
}

const countOf = (samples: number | null | undefined, byDefault: number): number =>
  Math.min(Math.max(Math.floor(samples ?? byDefault) || byDefault, 1), SAMPLES_MAX);

/** So many of the numbers from 0, or all of them: the first and the last are among them. */
const evenly = (of: number, count: number): number[] =>
  Array.from({ length: Math.min(of, count) }, (_, at) =>
    of <= count ? at : Math.round((at * (of - 1)) / Math.max(count - 1, 1)),
  );

function stepOf({ line, content }: HistoryLine): number {
  const step = readLoggedObject(content)?._step;
  return typeof step === 'number' ? step : line;
}
