import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from './json-body.ts';
import { ValidationError } from './schema/validation.ts';
import { createTrainingBodyParser } from './training-body.ts';

function parseInChunks(text: string, size: number): unknown {
  const parser = createTrainingBodyParser();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) parser.write(bytes.subarray(at, at + size));
  return parser.end();
}

/** With keys and strings that look like structure. */
const text = fc.oneof(fc.string(), fc.constantFrom('{"', '\\"}', 'é€😀', '[[', 'trajectories', 'trajectory_groups'));
const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
const trajectory = fc.record({
  messages_and_choices: fc.array(fc.dictionary(text, value)),
  reward: fc.double({ noNaN: true }),
  note: text,
});
const group = fc.record({
  trajectories: fc.array(fc.oneof(trajectory, value)),
  metadata: value,
  other: fc.record({ trajectories: fc.array(trajectory) }),
});
const body = fc.record({
  model_id: text,
  trajectory_groups: fc.oneof(fc.array(group), value),
  trajectories: fc.array(trajectory),
});

test('whatever the body and its chunks, the value is that of JSON.parse', () => {
  fc.assert(
    fc.property(body, fc.integer({ min: 1, max: 40 }), fc.constantFrom(undefined, 2), (body, size, indent) => {
      const source = JSON.stringify(body, null, indent);
      expect(parseInChunks(source, size)).toEqual(JSON.parse(source));
    }),
    { numRuns: 300 },
  );
});

test('logprobs of choices come packed, others as they were', () => {
  const choice = {
    message: {},
    logprobs: {
      content: [
        { token: 'token_id:7', logprob: -0.5 },
        { token: 'x', logprob: null },
      ],
    },
  };
  const broken = { message: {}, logprobs: { content: [{ token: 7 }] } };
  const history = { messages_and_choices: [choice, broken] };
  const source = { trajectory_groups: [{ trajectories: [{ ...history, additional_histories: [history] }] }] };
  const parsed = parseInChunks(JSON.stringify(source), 7) as typeof source;
  const [trajectory] = parsed.trajectory_groups[0]!.trajectories;
  for (const { messages_and_choices: turns } of [trajectory!, ...trajectory!.additional_histories]) {
    expect(turns[0]!.logprobs).toMatchObject({ tokens: [7, 'x'], logprobs: [-0.5, null] });
    expect(turns[1]).toEqual(broken);
  }
});

test.each([
  '{"trajectory_groups": [{"trajectories": [{"a": 1}, {"b": nope}]}]}',
  '{"trajectory_groups": [{"trajectories": [{"a": 1}, {"b": 2]}]}',
  '{"trajectory_groups": [{"trajectories": [{"a": 1}',
  '{"trajectory_groups": [{"trajectories": [{"a": "x',
])('%s is broken where parseJson says', (source) => {
  const faultOf = (parse: () => unknown) => {
    try {
      parse();
    } catch (error) {
      return error instanceof ValidationError ? error.items[0] : error;
    }
    return null;
  };
  const expected = faultOf(() => parseJson(source)) as { loc: unknown };
  const found = faultOf(() => parseInChunks(source, 5)) as { loc: unknown };
  expect(found).toMatchObject({ type: 'json_invalid', loc: ['body', expect.any(Number)] });
  expect(expected).toMatchObject({ type: 'json_invalid' });
});

test('tokens that only Python writes are read, and rewards keep their digits', () => {
  const source =
    '{"trajectory_groups": [{"trajectories": [{"reward": 0.12345678901234567, "x": NaN, "y": -Infinity}]}]}';
  expect(parseInChunks(source, 3)).toEqual({
    trajectory_groups: [{ trajectories: [{ reward: 0.12345678901234567, x: 'NaN', y: '-Infinity' }] }],
  });
});
