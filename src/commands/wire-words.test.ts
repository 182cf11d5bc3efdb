// Refusals of a server in the words of the command line.
import { expect, test } from 'vitest';
import { fieldsAsFlags, idsAsNames, noteName } from './wire-words.ts';

const FLAGS = ['--epochs', '--schedule', '--lora-rank', '--to'];

test.each([
  [
    'body.config.epochs: Input should be less than or equal to 1000 (less_than_equal)',
    '--epochs: Input should be less than or equal to 1000.',
  ],
  ['body.config.lr_scheduler_type: Input should be a string (string_type)', '--schedule: Input should be a string.'],
  [
    'body.lora.r: Too large (value_error); body.config.epochs: Too small',
    '--lora-rank: Too large (value_error); --epochs: Too small.',
  ],
  ['query.end_date: Value error, end_date is before start_date.', '--to: Value error, end_date is before start_date.'],
  ['body.config.batch_size: Field required (missing)', 'config.batch_size: Field required.'],
  ['No training job x (yet).', 'No training job x (yet).'],
])('%s: %s', (said, shown) => expect(fieldsAsFlags(said, FLAGS)).toBe(shown));

test('a model is named as the user named it', () => {
  noteName('0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01', 'demo/sums');
  noteName('model', 'demo/other');
  expect(idsAsNames('The model is archived.')).toBe('The model is archived.');
  expect(idsAsNames('Model 0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01 is archived.')).toBe('Model demo/sums is archived.');
});
