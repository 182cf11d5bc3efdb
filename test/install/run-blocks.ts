// Runs the blocks of a page as its reader does: files are written under the name in their first line, commands run in one shell
// one after another, and servers keep running in their own terminal. Blocks that say why they are not run are skipped, as are
// exhibits.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { announced, type Project } from './empty-machine.ts';
import { fileOf, isExhibit, type Block } from '../support/install/readme-blocks.ts';

/** The port in the pages; a reader whose machine has it in use takes another. */
const PAGES_PORT = 8484;
const LONG_RUNNING = /^(?:npx whetstone (?:serve|workers run)\b|node receiver\.mjs)[^\n]*\n$/;
/** Commands that the page runs with the server stopped. */
const WHILE_STOPPED = /^(?:npm install \.\/|npx whetstone doctor )/m;

export interface Reader {
  /** Returns everything that the commands printed. */
  follow(blocks: readonly Block[]): Promise<string>;
  stop(): Promise<void>;
}

export function createReader(project: Project, port: number): Reader {
  const state = join(project.directory, 'exported-variables');
  let running: ChildProcess[] = [];

  /** If the page's commands find a server by default, a reader with another port must name it. */
  const elsewhere = port === PAGES_PORT ? '' : `export WHETSTONE_URL=http://127.0.0.1:${port}`;

  /** What one block sets or exports is available in the next. */
  const shell = (code: string): readonly [string, string, string, string] => [
    '-euo',
    'pipefail',
    '-c',
    `${elsewhere}\nif [ -e '${state}' ]; then . '${state}'; fi\n${code}\n{ export -p; declare -p | grep '^declare -- [a-z]' || true; } > '${state}'`,
  ];

  async function stop(): Promise<void> {
    const children = running;
    running = [];
    for (const child of children.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    }
    await project.serverEnded();
  }

  async function start(code: string): Promise<void> {
    const isServer = code.startsWith('npx whetstone serve');
    if (isServer) await stop();
    const environment = `WHETSTONE_PORT=${port} WHETSTONE_URL=http://127.0.0.1:${port}`; // a terminal without exported variables
    const child = project.start('bash', '-c', `${environment} exec ${code}`);
    running.push(child);
    if (isServer) await announced(child);
    else if (code.startsWith('node ')) await once(child.stdout!, 'data'); // it prints where it listens
  }

  return {
    stop,
    async follow(blocks) {
      const said: string[] = [];
      for (const block of blocks) {
        const code = block.code.replaceAll(String(PAGES_PORT), String(port));
        const file = fileOf(block);
        if (block.notRun !== undefined || isExhibit(block)) continue;
        if (file !== null) await writeFile(join(project.directory, file), code);
        else if (block.language !== 'sh') throw new Error(`this block is neither run nor marked:\n${code}`);
        else if (LONG_RUNNING.test(code)) await start(code.trim());
        else {
          if (WHILE_STOPPED.test(code)) await stop();
          said.push((await project.run('bash', ...shell(code))).stdout);
        }
      }
      return said.join('\n');
    },
  };
}
