// The history of a run as the library queries it: a range of steps (inclusive), or evenly sampled lines that have all of the given keys.
// Steps increase with the lines, so a range is found by binary search.
import { createYielder } from '#base/yield-to-loop';
import type { HistoryLine, Run } from '#domain/run';
import { quoteBare, readLoggedObject } from '#services/runs/run-json';
import type { RequestContext } from './request-context.ts';

const PAGE = 1_000;
const SAMPLES_MAX = 10_000;
/** Of a longer history, only every second line is read, every third, and so on. */
const SCANNED_LINES_MAX = 50_000;

export function runHistoryFields({ caller, budget, services: { runs } }: RequestContext, run: Run) {
  const read = (from: number, limit: number) => runs.history(caller, run, from, limit);

  async function* lines(from: number): AsyncGenerator<HistoryLine> {
    const yieldToLoop = createYielder();
    for (let next = from; ;) {
      const page = await read(next, PAGE);
      for (const line of page) {
        yield line;
        await yieldToLoop();
      }
      if (page.length === 0 || page.at(-1)!.line >= run.historyLines - 1) return; // a page of long lines is shorter
      next = page.at(-1)!.line + 1;
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

  return {
    /** Where a scan ends. */
    async historyKeys() {
      const [last] = run.historyLines === 0 ? [] : await read(run.historyLines - 1, 1);
      return { lastStep: last ? stepOf(last) : -1, keys: {}, sets: [] };
    },

    async history({ minStep, maxStep, samples }: { minStep?: unknown; maxStep?: unknown; samples?: number }) {
      const [from, to] = [Number(minStep ?? 0), Number(maxStep ?? Infinity)];
      const found: string[] = [];
      for await (const line of lines(await firstLineAt(from))) {
        if (stepOf(line) > to || found.length >= Math.min(samples ?? PAGE, SAMPLES_MAX)) break;
        budget.text.spend(line.content.length);
        found.push(quoteBare(line.content));
      }
      return found;
    },

    async sampledHistory({ specs }: { specs: readonly string[] }) {
      const all: unknown[] = [];
      for (const text of specs.slice(0, SPECS_MAX)) all.push(await sample(readLoggedObject(text) ?? {}));
      return all;
    },

    parquetHistory: { parquetUrls: [], liveData: [] },
  };

  async function sample(spec: Readonly<Record<string, unknown>>): Promise<unknown[]> {
    const keys = Array.isArray(spec.keys) ? spec.keys.map(String) : null;
    const sampleCount = Math.min(Math.max(Number(spec.samples ?? 500) || 500, 1), SAMPLES_MAX);
    const [minStep, maxStep] = [Number(spec.minStep ?? 0), Number(spec.maxStep ?? Infinity)];
    const stride = Math.ceil(run.historyLines / SCANNED_LINES_MAX) || 1;
    const rows: Readonly<Record<string, unknown>>[] = [];
    for await (const line of lines(minStep > 0 ? await firstLineAt(minStep) : 0)) {
      if (line.line % stride !== 0) continue;
      if (stepOf(line) > maxStep) break;
      const row = readLoggedObject(line.content);
      if (!row || (keys && !keys.every((key) => key in row))) continue;
      budget.text.spend(line.content.length);
      rows.push(keys ? only(row, keys) : row);
    }
    if (rows.length <= sampleCount) return rows;
    return Array.from(
      { length: sampleCount },
      (_, at) => rows[Math.round((at * (rows.length - 1)) / Math.max(sampleCount - 1, 1))],
    );
  }
}

const SPECS_MAX = 10;

function stepOf({ line, content }: HistoryLine): number {
  const step = readLoggedObject(content)?._step;
  return typeof step === 'number' ? step : line;
}

const only = (row: Readonly<Record<string, unknown>>, keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, row[key]]));
