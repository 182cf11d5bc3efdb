// The slow, simple reference for sql/runs.ts.
import { runRows } from '#domain/blob-names';
import {
  freshRun,
  lineBytes,
  runBytes,
  runWeight,
  type ArtifactUse,
  type Run,
  type RunName,
  linesOfPage,
} from '#domain/run';
import type { Payer } from '../account-store.ts';
import type { MemoryAccounts } from './accounts.ts';
import { inOrder, paginate } from './page.ts';
import type { RunStore } from '../run-store.ts';

const same = (a: RunName, b: RunName): boolean => a.entity === b.entity && a.project === b.project && a.name === b.name;

export function createMemoryRuns(accounts: Pick<MemoryAccounts, 'chargeWithin' | 'forget'>): RunStore {
  let runs: Run[] = [];
  const lines = new Map<string, Map<number, string>>();
  let links: { id: string; artifactId: string; how: ArtifactUse }[] = [];

  function keep(run: Run, payer: Payer): boolean {
    if (!accounts.chargeWithin({ blob: runRows(run.id), entity: run.entity, sizeBytes: runBytes(run) }, payer))
      return false;
    runs = runs.some(({ id }) => id === run.id)
      ? runs.map((each) => (each.id === run.id ? run : each))
      : [...runs, run];
    return true;
  }

  return {
    async upsert({ id, entity, project, name }, change, payer, nowMs) {
      const known = runs.find((run) => same(run, { entity, project, name }));
      const before = known ?? {
        ...{ id, entity, project, name, ...freshRun(name) },
        ...{ historyLines: 0, historyBytes: 0, createdAtMs: nowMs, updatedAtMs: nowMs },
      };
      const run = { ...before, ...change, updatedAtMs: nowMs };
      return keep(run, payer) ? { outcome: known ? 'changed' : 'created', run } : { outcome: 'over_limit' };
    },
    find: async (name) => runs.find((run) => same(run, name)) ?? null,
    async list({ entity, project }, page, order = 'asc') {
      const own = inOrder(
        runs.filter((run) => run.entity === entity),
        order,
      );
      return paginate(own, own.filter((run) => run.project === (project ?? run.project)), page, runWeight); // prettier-ignore
    },
    async append(id, { offset, lines: added }, change, payer, nowMs) {
      const run = runs.find((each) => each.id === id);
      if (!run) return null;
      const history = new Map(lines.get(id));
      added.forEach((content, at) => history.set(offset + at, content));
      const end = added.length === 0 ? 0 : offset + added.length;
      const next: Run = {
        ...{ ...run, ...change, updatedAtMs: nowMs },
        historyLines: Math.max(run.historyLines, end),
        historyBytes: [...history.values()].reduce((sum, content) => sum + lineBytes(content), 0),
      };
      if (!keep(next, payer)) return 'over_limit';
      lines.set(id, history);
      return next;
    },
    async history(id, from, limit) {
      const page = [...(lines.get(id) ?? [])]
        .map(([line, content]) => ({ line, content }))
        .filter(({ line }) => line >= from)
        .sort((a, b) => a.line - b.line)
        .slice(0, limit);
      return page.slice(0, linesOfPage(page.map(({ content }) => content.length)));
    },
    async noteArtifact(id, artifactId, how) {
      const isSame = (link: (typeof links)[number]) =>
        link.id === id && link.artifactId === artifactId && link.how === how;
      if (!links.some(isSame)) links.push({ id, artifactId, how });
    },
    artifactsOf: async (id, how, limit) =>
      links
        .filter((link) => link.id === id && link.how === how)
        .map(({ artifactId }) => artifactId)
        .slice(0, limit),
    runsOf: async (artifactId, how, limit) =>
      runs
        .filter(({ id }) => links.some((l) => l.id === id && l.artifactId === artifactId && l.how === how))
        .slice(0, limit),
    async delete(id) {
      links = links.filter((link) => link.id !== id);
      const before = runs.length;
      runs = runs.filter((run) => run.id !== id);
      lines.delete(id);
      accounts.forget(runRows(id));
      return runs.length < before;
    },
  };
}
