// Runs, read back and deleted by their owner. The W&B protocol writes them (wandb/routes.ts).
import { Readable } from 'node:stream';
import { z } from 'zod';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { RunName } from '#domain/run';
import type { Runs } from '#services/runs/runs';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { envelope, pageQuery, toEnvelope, toPage } from '../http/listing.ts';
import {
  HISTORY_LINES,
  historyLineResponse,
  runCurvesQuery,
  runCurvesResponse,
  runHistoryQuery,
  runList,
  runProjectResponse,
  runResponse,
  runsQuery,
  toHistoryLine,
  toRunProjectResponse,
  toRunResponse,
} from './run.ts';

const RUN = '/v1/runs/{entity}/{project}/{run}';

const nameOf = ({ entity, project, run }: Readonly<Record<string, string>>, caller: Caller): RunName => ({
  entity: entity === '~' ? caller.entity : entity!,
  project: project!,
  name: run!,
});

export function runRoutes({ runs }: Pick<ApiServices, 'runs'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/runs',
      tag: 'Runs',
      summary: 'List your runs, of all projects or of one',
      access: 'read',
      errors: [404],
      query: runsQuery,
      answer: runList,
      async handle({ caller, query }) {
        const { entity, project, state, search } = query;
        if (entity !== undefined && entity !== '~' && entity !== caller.entity)
          throw new AppError(
            'not_found',
            `This key is of the team ${caller.entity}: it has no runs of ${entity.slice(0, 100)}.`,
          );
        const filter = { ...(project === undefined ? {} : { project }), ...(search ? { search } : {}) };
        const asked = state === undefined ? filter : { ...filter, state };
        const page = toEnvelope(await runs.list(caller, asked, toPage(query), query.order), toRunResponse);
        return { ...page, counts: await runs.countByState(caller, filter) };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/run-projects',
      tag: 'Runs',
      summary: 'List the projects that have runs, in order of their names, with the number of runs',
      access: 'read',
      query: pageQuery,
      answer: envelope(runProjectResponse),
      handle: async ({ caller, query }) =>
        toEnvelope(await runs.listProjects(caller, toPage(query)), toRunProjectResponse),
    }),
    endpoint({
      method: 'GET',
      path: RUN,
      tag: 'Runs',
      summary: 'Read a run: configuration, summary and state. Entity `~` is your own',
      access: 'read',
      errors: [404],
      answer: runResponse,
      handle: async ({ caller, params }) => toRunResponse(await runs.get(caller, nameOf(params, caller))),
    }),
    endpoint({
      method: 'GET',
      path: `${RUN}/history`,
      tag: 'Runs',
      summary: 'Read the history of a run, line by line. In pages of JSON, or all lines as JSON Lines',
      access: 'read',
      errors: [404],
      query: runHistoryQuery,
      answer: envelope(historyLineResponse),
      alsoAnswers: [HISTORY_LINES],
      async handle({ caller, params, query: { after, limit, format }, reply }) {
        const name = nameOf(params, caller);
        const from = after === undefined ? 0 : after + 1;
        if (format === 'json') {
          const { historyLines } = await runs.get(caller, name);
          const rows = await runs.history(caller, name, from, limit);
          return toEnvelope({ rows, hasMore: rows.length > 0 && rows.at(-1)!.line < historyLines - 1 }, toHistoryLine);
        }
        await runs.get(caller, name); // before the first byte
        return reply.type(HISTORY_LINES).send(Readable.from(historyText(runs, caller, name, from)));
      },
    }),
    endpoint({
      method: 'GET',
      path: `${RUN}/curves`,
      tag: 'Runs',
      summary: 'Read the numbers that a run logged as curves, with as many points as a chart can show',
      access: 'read',
      errors: [404],
      query: runCurvesQuery,
      answer: runCurvesResponse,
      async handle({ caller, params, query }) {
        const name = nameOf(params, caller);
        const { historyLines, curves, leftOut } = await runs.curves(caller, name, query.points);
        const all = [...curves].map(([key, { steps, values }]) => [key, { steps, values }] as const);
        return {
          object: 'run_curves' as const,
          history_lines: historyLines,
          curves: Object.fromEntries(all),
          left_out: leftOut,
        };
      },
    }),
    endpoint({
      method: 'DELETE',
      path: RUN,
      tag: 'Runs',
      summary: 'Delete a run and its history',
      access: 'train',
      errors: [404],
      answer: z.object({ deleted: z.literal(true) }),
      async handle({ caller, params }) {
        await runs.delete(caller, nameOf(params, caller));
        return { deleted: true };
      },
    }),
  ];
}

const PAGE = 1_000;

async function* historyText(runs: Runs, caller: Caller, name: RunName, from: number): AsyncGenerator<string> {
  for (let next = from; ;) {
    const lines = await runs.history(caller, name, next, PAGE);
    if (lines.length === 0) return;
    yield lines.map((line) => `${JSON.stringify(toHistoryLine(line))}\n`).join('');
    next = lines.at(-1)!.line + 1;
  }
}
