// The memory plan with which a server with these settings would start, for `whetstone doctor`. Loads nothing and fetches no weights.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base/log';
import { UNWATCHED } from '#model-files/hub-download';
import { resolveModelDirectory } from '#model-files/resolve-model';
import type { ServerConfig } from '#config/server-config';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { plannedFor, type PlannedMemory } from './model-memory.ts';

export async function readPlannedMemory(config: ServerConfig): Promise<PlannedMemory> {
  const ggufDirectory = await mkdtemp(join(tmpdir(), 'whetstone-plan-'));
  try {
    const options = {
      starterDirectory: STARTER_DIRECTORY,
      ggufDirectory,
      hub: config.hub,
      progress: UNWATCHED,
      log: silentLog,
      parts: 'without weights' as const,
      signal: AbortSignal.timeout(config.hub.downloadMs),
    };
    const names = [...new Set(config.models)];
    return await plannedFor(await Promise.all(names.map((name) => resolveModelDirectory(name, options))), config);
  } finally {
    await rm(ggufDirectory, { recursive: true, force: true });
  }
}
