// whetstone-client as a Python user installs it: with pip, in its own virtual environment, with this machine's pip settings.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runPython } from '../support/python-script.ts';
import { readBlocks, type Block } from '../support/install/readme-blocks.ts';

const PACKAGE = fileURLToPath(new URL('../../python/whetstone-client/', import.meta.url));

export interface PythonClient {
  /** An interpreter that has only the client and its dependencies. */
  readonly python: string;
  /** The loop of its README, on a model of its own. */
  loop(model: string): Promise<Block>;
  remove(): Promise<void>;
}

/** `python`: any interpreter that makes virtual environments. */
export async function installPythonClient(python: string): Promise<PythonClient> {
  const environment = await mkdtemp(join(tmpdir(), 'whetstone-client-python-'));
  await runPython(python, ['-m', 'venv', environment]);
  const own = join(environment, 'bin', 'python');
  await promisify(execFile)(own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE]);
  return {
    python: own,
    async loop(model) {
      const blocks = readBlocks(await readFile(join(PACKAGE, 'README.md'), 'utf8'));
      const { language, code } = blocks.find((block) => block.language === 'python')!;
      return {
        language,
        code: code.replace('"demo", "sums"', `"demo", "${model}"`).replace('demo/sums', `demo/${model}`),
      };
    },
    remove: () => rm(environment, { recursive: true, force: true }),
  };
}
