import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchNpmParent } from './npm-parent.ts';

const [SHELL, NPM, INIT] = [11, 10, 1];

function aMachine() {
  const running = new Set([SHELL, NPM]);
  return {
    running,
    parent: () => (running.has(SHELL) ? SHELL : INIT),
    parentOf: (pid: number) => (pid === SHELL ? NPM : null),
    isRunning: (pid: number) => running.has(pid),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  ['the shell', SHELL],
  ['npm', NPM],
])('reports once that %s has ended', (_name, pid) => {
  const machine = aMachine();
  const onGone = vi.fn();
  watchNpmParent({ npm_command: 'exec' }, onGone, machine);
  vi.advanceTimersByTime(60_000);
  expect(onGone).not.toHaveBeenCalled();
  machine.running.delete(pid);
  vi.advanceTimersByTime(60_000);
  expect(onGone).toHaveBeenCalledTimes(1);
});

test('watches no process if npm did not start this one', () => {
  const machine = aMachine();
  const onGone = vi.fn();
  watchNpmParent({}, onGone, machine);
  machine.running.clear();
  vi.advanceTimersByTime(60_000);
  expect(onGone).not.toHaveBeenCalled();
});
