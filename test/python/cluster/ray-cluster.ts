// A Ray cluster of two nodes on this machine, and the command `whetstone-worker ray` on it. Needs the interpreter that
// WHETSTONE_RAY_PYTHON names (scripts/python-env.sh ray).
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const RAY_PYTHON = process.env['WHETSTONE_RAY_PYTHON'];
const NODES = fileURLToPath(new URL('./two_nodes.py', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../../../python/whetstone-worker/src', import.meta.url));
const run = promisify(execFile);

/** The format of `whetstone-worker ray status --json`. */
export interface ClusterStatus {
  readonly settled: boolean;
  readonly fault: string | null;
  readonly samplers: { readonly wanted: number };
  readonly workers: readonly ClusterWorker[];
}

export interface ClusterWorker {
  readonly name: string;
  readonly role: 'sampler' | 'trainer';
  readonly on_server: string | null;
  readonly phase: string;
  /** The Ray process that runs the actor. */
  readonly pid?: number;
  readonly node?: string;
  readonly starts?: number;
  readonly gpus?: readonly string[];
}

/** Between two questions for the status: each starts a Python that imports Ray, which takes two seconds of a processor. */
export const STATUS_MS = 4_000;

export interface RayCluster {
  /** Stdout of `whetstone-worker ray`; rejects with its output if it fails. */
  command(action: string, ...flags: string[]): Promise<string>;
  status(): Promise<ClusterStatus>;
  /** As if the machine were gone. */
  killNode(id: string): Promise<void>;
  addNode(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRayCluster(env: Readonly<Record<string, string>>): Promise<RayCluster> {
  const everywhere = { ...process.env, ...env, PYTHONPATH: PACKAGE };
  const nodes = spawn(RAY_PYTHON!, [NODES], { env: everywhere, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(nodes, 'close');
  const answers = createInterface({ input: nodes.stdout })[Symbol.asyncIterator]();
  async function nextAnswer(): Promise<Record<string, string>> {
    const answer = await answers.next();
    if (answer.done) throw new Error('The Ray cluster ended.');
    return JSON.parse(answer.value) as Record<string, string>;
  }
  async function tell(command: object): Promise<void> {
    nodes.stdin.write(`${JSON.stringify(command)}\n`);
    await nextAnswer();
  }

  const { address } = await nextAnswer();
  const command = async (action: string, ...flags: string[]) => {
    const args = ['-m', 'whetstone_worker', 'ray', action, '--address', address!, ...flags];
    return (await run(RAY_PYTHON!, args, { env: everywhere })).stdout;
  };
  return {
    command,
    async status() {
      // Exits with 1 if a worker is missing, and names it.
      const said = await command('status', '--json').catch((error: { stdout?: string }) => {
        if (error.stdout?.startsWith('{')) return error.stdout;
        throw error;
      });
      return JSON.parse(said) as ClusterStatus;
    },
    killNode: (id) => tell({ kill: id }),
    addNode: () => tell({ add: true }),
    async stop() {
      nodes.stdin.end();
      await ended;
    },
  };
}
