import { expect, test } from 'vitest';
import { FIELD_GROUPS, readSettings } from './fields.ts';

test('typed values become values of the request, and empty fields are left out', () => {
  const typed = {
    ...{ temperature: '0.5', seed: '7', top_p: ' ', stop: 'a\n b\n\n', ignore_eos: 'false' },
    ...{ tools: '[{"type":"function"}]', reasoning_effort: 'low', unknown: 'x' },
  };
  expect(readSettings(typed)).toEqual({
    values: {
      ...{ temperature: 0.5, seed: 7, stop: ['a', ' b'], ignore_eos: false },
      ...{ tools: [{ type: 'function' }], reasoning_effort: 'low' },
    },
    problems: {},
  });
});

test('a field that cannot be parsed shows its problem', () => {
  const { values, problems } = readSettings({ temperature: 'warm', seed: '1.5', tools: '{' });
  expect(values).toEqual({});
  expect(Object.keys(problems)).toEqual(['temperature', 'seed', 'tools']);
});

test('no field is listed twice', () => {
  const names = FIELD_GROUPS.flatMap(({ fields }) => fields.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});
