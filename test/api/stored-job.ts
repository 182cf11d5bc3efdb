// What the server kept of a submitted job.
import type { RlConfigInput, RlJobBody, TrajectoryGroup } from '#domain/trajectory';
import { openGroups } from '#services/stored-groups';
import { bodyBlobOf } from '#services/training-jobs';
import type { TestServer } from './test-server.ts';

export async function storedJob(server: TestServer, jobId: string): Promise<RlJobBody> {
  const stored = await openGroups<RlConfigInput>(server.blobs, bodyBlobOf(jobId));
  const groups: TrajectoryGroup[] = [];
  for await (const group of stored.groups) groups.push(group);
  return { config: stored.head, groups };
}
