// Entities, projects and the viewer as the library queries them. Every named project exists; it may just be empty.
import { artifactsOfRun } from './artifact.ts';
import { time, type RequestContext } from './request-context.ts';
import { entityFields, projectNumber } from './names.ts';
import { artifactsOfProject } from './project-artifacts.ts';
import { runField, runsField } from './run.ts';

export const viewerFields = ({ caller: { entity } }: RequestContext) => ({
  id: entity,
  name: entity,
  username: entity,
  email: null,
  admin: false,
  flags: '{}',
  entity,
  defaultEntity: entityFields(entity),
  deletedAt: null,
  apiKeys: { edges: [] },
  teams: { edges: [] },
});

/** Null: another entity's. */
export function projectFields(
  context: RequestContext,
  entityName: string | null | undefined,
  name: string | null | undefined,
) {
  const entity = entityName || context.caller.entity;
  if (entity !== context.caller.entity || !name) return null;
  const number = projectNumber(entity, name);
  return {
    id: number,
    internalId: number,
    name,
    entityName: entity,
    entity: entityFields(entity),
    readOnly: false,
    createdAt: () => beginningOf(context, name),
    isBenchmark: false,
    user: null,
    ...runsField(context, name),
    ...artifactsOfProject(context, entity, name),
    async run(which: { name: string }) {
      const run = await runField(context, entity, name)(which);
      return run && { ...run, ...artifactsOfRun(context, { entity, project: name, name: run.name }) };
    },
    bucket: runField(context, entity, name),
  };
}

/** A project begins with its first run; an empty one has the time 0, because the library wants one. */
async function beginningOf({ caller, services: { runs } }: RequestContext, project: string): Promise<string> {
  const { rows } = await runs.list(caller, { project }, { after: null, limit: 1 }, 'asc');
  return time(rows[0]?.createdAtMs ?? 0);
}
