// The product's own data for checking the files of deploy/: which `whetstone serve …` it accepts, and how long a stop may take.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readServerConfig, type ServerConfig } from '#config/server-config';
import { createProgram } from '#commands/program';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export const read = (path: string): Promise<string> => readFile(`${ROOT}${path}`, 'utf8');

export type Variables = Readonly<Record<string, string>>;

/** The configuration of a server started so. Throws if a flag, a variable or a value is unknown. */
export function configOf([command, ...args]: readonly string[], env: Variables): ServerConfig {
  const { program } = createProgram((error) => {
    throw error;
  });
  const serve = program.commands.find((each) => each.name() === command);
  if (command !== 'serve' || !serve) throw new Error(`expected serve, got ${command}`);
  const { operands, unknown } = serve.parseOptions([...args]);
  const stray = [...operands, ...unknown];
  if (stray.length > 0) throw new Error(`serve takes no ${stray.join(' ')}`);
  return readServerConfig(serve.opts(), env);
}

/** The longest time from a signal to the exit, as docs/operations.md promises. */
export const stopSeconds = ({ stop }: Pick<ServerConfig, 'stop'>): number =>
  Math.max(stop.drainMs, stop.stepMs) / 1000 + 7;
