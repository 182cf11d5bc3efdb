// What the product says of itself, to hold the files of deploy/ against: which `whetstone serve …` it takes, and how long a stop may take.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readServerConfig, type ServerConfig } from '#config';
import { createProgram } from '#program';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export const read = (path: string): Promise<string> => readFile(`${ROOT}${path}`, 'utf8');

export type Variables = Readonly<Record<string, string>>;

/** The configuration of the server that is started so. Throws where a flag, a variable or its value is none of ours. */
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

/** As docs/operations.md promises: the exit comes at the latest so long after a signal. */
export const stopSeconds = ({ stop }: Pick<ServerConfig, 'stop'>): number =>
  Math.max(stop.drainMs, stop.stepMs) / 1000 + 7;
