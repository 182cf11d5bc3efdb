// A training client of the Tinker SDK itself, in a Python process of its own (python/tinker/train_along.py), for tinker-load.ts. Knows
// nothing of the protocol: the SDK decides how requests are repeated and how long it waits.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { LEARNING_RATE, RANK, SEED, type KilledServer, type LoadTrainer } from './tinker-load.ts';

const SCRIPT = fileURLToPath(new URL('../python/tinker/train_along.py', import.meta.url));

/** `python`: the interpreter of scripts/python-env.sh tinker. */
export function openSdkTrainer(python: string, { url, apiKey }: KilledServer): LoadTrainer {
  const about = [`${url}/tinker`, apiKey, 'whetstone/starter', RANK, SEED, LEARNING_RATE].map(String);
  const child = spawn(python, [SCRIPT, ...about], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, TINKER_TELEMETRY: '0' },
  });
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed); // nothing else would stop it if a benchmark is interrupted
  child.once('exit', () => process.off('exit', killed));
  let words = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-5_000)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  async function readLine<T>(): Promise<T> {
    const line = await lines.next();
    if (line.done) throw new Error(`the SDK's process ended:\n${words}`);
    return JSON.parse(line.value) as T;
  }
  return {
    step(batch) {
      child.stdin.write(`${JSON.stringify(batch)}\n`);
      return readLine<number>();
    },
    end() {
      child.stdin.end();
      return readLine<string>();
    },
  };
}
