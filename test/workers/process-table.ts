// Which processes a process has started, as `ps` lists them: tests kill some, and look for those that were left behind.
import { execFileSync } from 'node:child_process';

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Those that run: a process that has ended stays in the table until its parent has heard of it. */
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

/** Also those that its children have started, and so on. */
export const descendantsOf = (pid: number, among = listProcesses()): Process[] =>
  childrenOf(pid, among).flatMap((child) => [child, ...descendantsOf(child.pid, among)]);
