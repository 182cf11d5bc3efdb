import { expect, test, vi } from 'vitest';
import { confirm } from './output.ts';

const aTerminal = (answer: string, isTTY = true) => ({ isTTY, ask: vi.fn(async () => answer) });

test.each(['y', 'Yes', ' yes '])('"%s" at a terminal confirms', async (answer) => {
  const terminal = aTerminal(answer);
  await confirm({}, 'Delete all?', terminal);
  expect(terminal.ask).toHaveBeenCalledWith('Delete all? [y/N] ');
});

test.each(['', 'n', 'yesterday'])('"%s" at a terminal changes nothing', async (answer) => {
  await expect(confirm({}, 'Delete all?', aTerminal(answer))).rejects.toThrow('Nothing was changed.');
});

test('nobody is asked with --yes, or where there is no terminal', async () => {
  const [terminal, pipe] = [aTerminal('n'), aTerminal('n', false)];
  await confirm({ yes: true }, 'Delete all?', terminal);
  await confirm({}, 'Delete all?', pipe);
  expect(terminal.ask).not.toHaveBeenCalled();
  expect(pipe.ask).not.toHaveBeenCalled();
});
