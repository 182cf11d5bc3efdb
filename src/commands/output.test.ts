import { expect, test, vi } from 'vitest';
import { confirm, table } from './output.ts';

const aTerminal = (answer: string, isTTY = true) => ({ isTTY, ask: vi.fn(async () => answer) });

test.each(['y', 'Yes', ' yes '])('"%s" at a terminal confirms', async (answer) => {
  const terminal = aTerminal(answer);
  await confirm({}, 'Delete all?', terminal);
  expect(terminal.ask).toHaveBeenCalledWith('Delete all? [y/N] ');
});

test.each(['', 'n', 'yesterday'])('"%s" at a terminal changes nothing', async (answer) => {
  await expect(confirm({}, 'Delete all?', aTerminal(answer))).rejects.toThrow('Nothing was changed.');
});

test.each([true, false])('--yes confirms without a question (at a terminal: %s)', async (isTTY) => {
  const terminal = aTerminal('n', isTTY);
  await confirm({ yes: true }, 'Delete all?', terminal);
  expect(terminal.ask).not.toHaveBeenCalled();
});

test('without a terminal and without --yes the command is refused, and says what to add', async () => {
  const pipe = aTerminal('y', false);
  await expect(confirm({}, 'Delete all?', pipe)).rejects.toThrow(
    'Delete all? There is no terminal to ask: add --yes to go ahead without confirmation.',
  );
  expect(pipe.ask).not.toHaveBeenCalled();
});

test('a table has a header, and says when there is nothing to list', () => {
  expect(table('No keys.', ['ID', 'NAME'], [['k-1', 'ci']])).toEqual(['ID   NAME', 'k-1  ci']);
  expect(table('No keys.', ['ID', 'NAME'], [])).toEqual(['No keys.']);
});
