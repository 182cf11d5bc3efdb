// Runs a process that keeps sending a server requests that need no model (load-probe.ts), and summarizes its times.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProbeName, ProbeTimes } from './load-probe.ts';
import { quantiles, type Quantiles } from './quantiles.ts';

const PROBE = fileURLToPath(new URL('./load-probe.ts', import.meta.url));

export type Probed = Readonly<Record<ProbeName, Quantiles>>;

/** `stop` throws if the server answered a request wrongly, or not at all. */
export function startProbe(
  { url, key }: { readonly url: string; readonly key: string },
  pauseMs: number,
  questions: readonly ProbeName[] = ['health', 'models', 'refusedChat'],
): { stop(): Promise<Probed> } {
  const child = fork(PROBE, { serialization: 'advanced', execArgv: ['--import', 'tsx'] });
  child.send({ url, key, pauseMs, questions });
  const exited = once(child, 'exit').then(() => null);
  return {
    async stop() {
      const answered = once(child, 'message') as Promise<[ProbeTimes]>;
      if (child.connected) child.send('stop');
      const answer = await Promise.race([answered, exited]);
      if (answer === null) throw new Error('the probe ended before it was stopped: its last question was not answered');
      const [{ health, models, refusedChat }] = answer;
      return { health: quantiles(health), models: quantiles(models), refusedChat: quantiles(refusedChat) };
    },
  };
}
