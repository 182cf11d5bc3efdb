// hadolint, the schemas of Compose and Kubernetes, and Helm's own library, from the Python environment that
// WHETSTONE_DEPLOY_PYTHON names (scripts/python-env.sh deploy).
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { ROOT } from '../../support/deploy/product.ts';

const python = process.env['WHETSTONE_DEPLOY_PYTHON'];

/** A command of the environment. Throws its output if it does not exit with 0. */
export function lint(command: string, args: readonly string[], input = ''): string {
  const path = command === 'python' ? python! : join(dirname(python!), command);
  const { status, stdout, stderr, error } = spawnSync(path, args, { cwd: ROOT, encoding: 'utf8', input });
  if (status !== 0) throw error ?? new Error(`${command}: ${stdout}${stderr}`);
  return stdout;
}
