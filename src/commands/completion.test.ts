// The completion script, asked by a real bash.
import { execFileSync } from 'node:child_process';
import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { addCompletion } from './completion.ts';

function scriptFor(shell: string): string {
  const program = new Command('whetstone');
  const jobs = program.command('jobs');
  jobs.command('list').alias('ls').option('--limit <count>');
  jobs.command('cancel <id>').option('--yes');
  addCompletion(program);
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    program.parse(['node', 'whetstone', 'completion', shell]);
    return out.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    out.mockRestore();
  }
}

const suggested = (script: string, line: string): string[] => {
  const words = line.split(' ');
  const ask = `COMP_WORDS=(${words.map((word) => `"${word}"`).join(' ')}); COMP_CWORD=${words.length - 1}; _whetstone; echo "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
    .trim()
    .split(' ');
};

test('bash completes commands and flags, also behind the short name of a command', () => {
  const script = scriptFor('bash');
  expect(suggested(script, 'whetstone jo')).toEqual(['jobs']);
  expect(suggested(script, 'whetstone jobs ')).toEqual(['list', 'cancel']);
  expect(suggested(script, 'whetstone jobs list --l')).toEqual(['--limit']);
  expect(suggested(script, 'whetstone jobs ls --l')).toEqual(['--limit']);
});

test('fish offers no second command behind the short name of one', () => {
  const script = scriptFor('fish');
  expect(script).toContain("'__fish_seen_subcommand_from jobs; and __fish_seen_subcommand_from ls' -l limit");
  expect(script).toContain('not __fish_seen_subcommand_from list ls cancel');
});
