import { execFileSync } from 'node:child_process';
import { constants, getPriority } from 'node:os';
import { expect, test } from 'vitest';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;

/** The niceness of a process with lower priority than the server. */
function priorityAfter(before: string): number {
  const script = `
    import { getPriority, setPriority } from 'node:os';
    import { lowerPriority } from '#base/lower-priority';
    ${before}
    lowerPriority();
    console.log(getPriority());`;
  const options = ['--import', 'tsx', '-C', 'source', '--input-type=module', '-e', script];
  return Number(execFileSync(process.execPath, options, { encoding: 'utf8' }));
}

test('a process gets a lower priority than the server, and one that is lower still keeps it', () => {
  expect(priorityAfter('')).toBe(Math.max(getPriority(), PRIORITY_BELOW_NORMAL));
  expect(priorityAfter(`setPriority(${PRIORITY_LOW});`)).toBe(PRIORITY_LOW);
});
