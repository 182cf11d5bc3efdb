// `npm run conformance:worker` as the author of a worker runs it: the Node worker passes; one that never connects, or lies, fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CLI, FROM_SOURCE } from '../../support/cli-command.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const NODE = [process.execPath, ...FROM_SOURCE].join(' ');
const TIMEOUT_MS = 600_000;

async function conformance(command: string): Promise<{ code: number | null; output: string }> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const args = ['--import', 'tsx', 'scripts/conformance-worker.ts', '--command', command, '--wait', '300'];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

test(
  'the worker of this package passes both suites and leaves',
  async () => {
    const { code, output } = await conformance(
      `${process.execPath} ${CLI} workers run --model "$WHETSTONE_MODEL" --roles sample,train --name subject`,
    );
    expect(code, output).toBe(0);
    expect(output).toContain('subject as a sampler');
    expect(output).toContain('subject as a trainer');
    expect(output).toContain('asked to stop by SIGTERM, it leaves the server and exits with 0');
  },
  TIMEOUT_MS,
);

test(
  'the report for a worker whose numbers differ from the model’s names the failed checks',
  async () => {
    const { code, output } = await conformance(`${NODE} test/support/workers/lying-worker.ts`);
    expect(code, output).toBe(1);
    expect(output).toMatch(/liar as a trainer.*log-probabilities are those of the base model/);
  },
  TIMEOUT_MS,
);

test(
  'a worker that exits before it connects fails with its exit code',
  async () => {
    const { code, output } = await conformance(`${process.execPath} -e "process.exit(3)"`);
    expect(code).toBe(1);
    expect(output).toContain('The command ended with code 3 before a worker had connected.');
  },
  TIMEOUT_MS,
);
