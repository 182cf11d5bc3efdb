import { expect, test } from 'vitest';
import { artifactNameOf } from './artifact-name.ts';
import { jobConfigOf } from './job-settings.ts';

test('settings that were left empty are the server’s', () => {
  expect(jobConfigOf({})).toEqual({});
  expect(jobConfigOf({ epochs: '3', learning_rate: '1e-4', batch_size: ' ' })).toEqual({
    epochs: 3,
    learning_rate: 1e-4,
  });
});

test('a file gives its artifact a name that the server allows', () => {
  expect(['rows.jsonl', 'my rows (2).jsonl', '.hidden', 'ü.json', 'v1.2.csv'].map(artifactNameOf)).toEqual([
    'rows',
    'my-rows-2',
    '',
    '',
    'v1.2',
  ]);
});
