import { expect, test } from 'vitest';
import type { TrajectoryGroup } from '#domain/trajectory';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { writeGroups } from './stored-groups.ts';

test('a line that is written in parts equals JSON.stringify of its group', async () => {
  const blobs = createMemoryBlobs();
  const groupOf = (...texts: string[]): TrajectoryGroup => ({
    trajectories: texts.map((content) => ({
      histories: [{ turns: [{ kind: 'message', message: { role: 'user', content } }], tools: null }],
      reward: 0.5,
      metrics: { won: true },
    })),
    exceptionCount: 2,
    metrics: { length: 3 },
  });
  const long = 'é"😀'.repeat(30_000);
  const bare = { trajectories: [] } as unknown as TrajectoryGroup; // as an older version wrote it
  const groups = [groupOf(), bare, groupOf('a', 'b'), groupOf(long, 'a', long)];
  await writeGroups(blobs, 'body', { step: 1 }, groups);
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await blobs.stream('body'))!) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  expect(lines.slice(0, 1 + groups.length)).toEqual([{ step: 1 }, ...groups].map((value) => JSON.stringify(value)));
});
