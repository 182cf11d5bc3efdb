// Which child processes a process has, as `ps` lists them: tests kill some, and look for leftovers.
import { execFileSync } from 'node:child_process';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Running processes: an ended process stays in the table until its parent has reaped it. */
export function listProcesses(): Process[] {
  const table = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return table.split('\n').flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return state === undefined || state.startsWith('Z')
      ? []
      : [{ pid: Number(pid), parent: Number(parent), command: command! }];
  });
}

export const childrenOf = (pid: number, among = listProcesses()): Process[] =>
  among.filter(({ parent }) => parent === pid);

/** Including the children of its children, and so on. */
export const descendantsOf = (pid: number, among = listProcesses()): Process[] =>
  childrenOf(pid, among).flatMap((child) => [child, ...descendantsOf(child.pid, among)]);
