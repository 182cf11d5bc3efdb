// Where to look at what a run has trained: pages of the server's dashboard, and with --keep the time to do so.
import { once } from 'node:events';
import type { RunningServer } from './server.ts';

/** `npm run demo -- --keep`: the server stays on until Ctrl-C. */
export const KEEP = process.argv.includes('--keep');

export interface Run {
  readonly name: string;
  readonly modelId: string;
  /** The last of its jobs. */
  readonly jobId: string;
}

export function addressLines({ url }: Pick<RunningServer, 'url'>, runs: readonly Run[]): string[] {
  const width = Math.max(...runs.map(({ name }) => name.length));
  return runs.flatMap(({ name, modelId, jobId }) => [
    `  ${name.padEnd(width)}  curves    ${url}/#/models/${modelId}`,
    `  ${''.padEnd(width)}  last job  ${url}/#/jobs/${jobId}`,
  ]);
}

/** Resolves after Ctrl-C. */
export async function showUntilInterrupted(
  server: Pick<RunningServer, 'url' | 'apiKey'>,
  runs: readonly Run[],
  say: (line: string) => void,
): Promise<void> {
  say('\nLook at it:');
  addressLines(server, runs).forEach(say);
  say(`  the key to paste: ${server.apiKey}`);
  say('\nThe server stays on until Ctrl-C.');
  const alive = setInterval(() => {}, 2 ** 30); // nothing else keeps this process
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(alive);
}
