// Prints where to look at the results of a run: pages of the server's dashboard. With --keep it then waits.
import { once } from 'node:events';
import type { RunningServer } from './server.ts';

/** `npm run demo -- --keep`: the server keeps running until Ctrl-C. */
export const KEEP = process.argv.includes('--keep');

export interface Run {
  readonly name: string;
  readonly modelId: string;
  /** The model's last job. */
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
  say('\nResults in the dashboard:');
  addressLines(server, runs).forEach(say);
  say(`  API key: ${server.apiKey}`);
  say('\nThe server runs until you press Ctrl-C.');
  const alive = setInterval(() => {}, 2 ** 30); // nothing else keeps this process alive
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  clearInterval(alive);
}
