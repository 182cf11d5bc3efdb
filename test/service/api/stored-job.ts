// What the server stored of a submitted job.
import { jobBodyBlob } from '#domain/blob-names';
import type { RlJobBody, TrajectoryGroup } from '#domain/trajectory';
import { readGroups, type RlJobHead } from '#services/jobs/data/stored-groups';
import type { TestServer } from '../../support/api/test-server.ts';

export async function storedJob(server: TestServer, jobId: string): Promise<RlJobBody> {
  const stored = await readGroups<RlJobHead>((await server.blobs.stream(jobBodyBlob(jobId)))!, jobBodyBlob(jobId));
  const groups: TrajectoryGroup[] = [];
  for await (const group of stored.groups) groups.push(group);
  const { warnings = [], ...config } = stored.head;
  return { config, groups, warnings };
}
