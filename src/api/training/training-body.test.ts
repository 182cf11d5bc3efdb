import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SCANNED_CHARACTERS } from '#base/json-shape';
import { parseJson } from '#validation/json-text';
import { checkTrajectory, trajectoryGroup } from '#rows/trajectory';
import { parse, ValidationError } from '#validation/parse';
import { createTrainingBodyParser } from './training-body.ts';

async function parseInChunks(text: string, size: number): Promise<unknown> {
  const parser = createTrainingBodyParser(async () => null);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) await parser.write(bytes.subarray(at, at + size));
  return parser.end();
}

/** With keys and strings that look like structure. */
const text = fc.oneof(fc.string(), fc.constantFrom('{"', '\\"}', 'é€😀', '[[', 'trajectories', 'trajectory_groups'));
const few = { maxLength: 4, maxKeys: 4 };
const value = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' });
const trajectory = fc.record({
  messages_and_choices: fc.array(fc.dictionary(text, value, few), few),
  reward: fc.double({ noNaN: true }),
  note: text,
});
const group = fc.record({
  trajectories: fc.array(fc.oneof(trajectory, value), few),
  metadata: value,
  other: fc.record({ trajectories: fc.array(trajectory, few) }),
});
const body = fc.record({
  model_id: text,
  trajectory_groups: fc.oneof(fc.array(group, few), value),
  trajectories: fc.array(trajectory, few),
});

test('whatever the body and its chunks, the value is that of JSON.parse', async () => {
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(undefined, 2),
      async (body, size, indent) => {
        const source = JSON.stringify(body, null, indent);
        expect(await parseInChunks(source, size)).toEqual(JSON.parse(source));
      },
    ),
    { numRuns: 100 },
  );
});

test('logprobs of choices come packed, other fields unchanged', async () => {
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
  const parsed = (await parseInChunks(JSON.stringify(source), 7)) as typeof source;
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
])('%s is broken where parseJson says', async (source) => {
  const faultOf = async (parse: () => unknown) => {
    try {
      await parse();
    } catch (error) {
      return error instanceof ValidationError ? error.items[0] : error;
    }
    return null;
  };
  const expected = (await faultOf(() => parseJson(source))) as { loc: unknown };
  const found = (await faultOf(() => parseInChunks(source, 5))) as { loc: unknown };
  expect(found).toMatchObject({ type: 'json_invalid', loc: ['body', expect.any(Number)] });
  expect(expected).toMatchObject({ type: 'json_invalid' });
});

test('tokens that only Python writes are read, and rewards keep their digits', async () => {
  const source =
    '{"trajectory_groups": [{"trajectories": [{"reward": 0.12345678901234567, "x": NaN, "y": -Infinity}]}]}';
  expect(await parseInChunks(source, 3)).toEqual({
    trajectory_groups: [{ trajectories: [{ reward: 0.12345678901234567, x: 'NaN', y: '-Infinity' }] }],
  });
});

const repeated = (part: string, count: number) => Array<string>(count).fill(part).join(',');
const bodyOf = (trajectories: string, more = '') =>
  `{"trajectory_groups": [{"trajectories": [${trajectories}]}]${more}}`;

test.each([
  ['More than 50000 trajectories', bodyOf(repeated('{}', 50_001))],
  ['More than 1500000 values', bodyOf(`{"x": [${repeated('0', 1_500_000)}]}`)],
  ['More than 100000 values besides token ids and log-probabilities', bodyOf(`{"x": [${repeated('[]', 100_000)}]}`)],
  ['More than 50000 different keys', bodyOf(`{${Array.from({ length: 50_001 }, (_, i) => `"${i}":0`).join(',')}}`)],
  ['More than 250000 numbers that are not valid JSON (NaN, Infinity)', bodyOf(`{"x": [${repeated('NaN', 250_001)}]}`)],
  ['A trajectory of more than 32000000 bytes', bodyOf(`{"x": "${'a'.repeat(32_000_000)}"}`)],
  ['More than 250000 values', bodyOf('', `,"x": [${repeated('0', 250_000)}]`)],
  ['More than 32000000 bytes outside of trajectories', bodyOf('', `,"x": "${'a'.repeat(32_000_000)}"`)],
])('%s: refused', async (error, source) => {
  await expect(parseInChunks(source, 1_000_000)).rejects.toMatchObject({
    items: [{ type: 'json_invalid', loc: ['body', expect.any(Number)], ctx: { error } }],
  });
});

test('after fifty wrong trajectories no more are checked', async () => {
  let checked = 0;
  const parser = createTrainingBodyParser(async () => {
    checked++;
    return null;
  });
  await parser.write(Buffer.from(bodyOf(repeated('{}', 1_000))));
  await parser.end();
  expect(checked).toBe(50);
});

test('a valid trajectory is passed on as its check returned it', async () => {
  const right = { checked: true };
  const parser = createTrainingBodyParser(async (trajectory) => ('right' in (trajectory as object) ? right : null));
  await parser.write(Buffer.from(bodyOf('{"right": 1}, {"wrong": 1}')));
  expect(await parser.end()).toEqual({ trajectory_groups: [{ trajectories: [right, { wrong: 1 }] }] });
});

test('a long trajectory is checked in slices, so that other requests are answered in between', async () => {
  let [turns, isDone] = [0, false];
  const others = (async () => {
    for (; !isDone; turns++) await new Promise(setImmediate);
  })();
  const parser = createTrainingBodyParser(async () => ({}));
  const source = Buffer.from(bodyOf(`{"x": [${repeated('12345678', 500_000)}]}`));
  await parser.write(source.subarray(0, -10));
  const before = turns;
  await parser.write(source.subarray(-10));
  isDone = true;
  await others;
  expect(turns - before).toBeGreaterThanOrEqual(Math.floor(source.length / SCANNED_CHARACTERS));
});

describe('a trajectory of many histories', () => {
  const history = { messages_and_choices: [{ role: 'user', content: 'a' }] };
  const trajectoryOf = (...histories: unknown[]) => ({ ...history, reward: 1, additional_histories: histories });
  const copies = (count: number) => Array.from({ length: count }, () => structuredClone(history));

  test('trajectories are checked one after the other, so that other requests are answered in between', async () => {
    let yields = 0;
    const yieldToLoop = async () => void yields++;
    const checked = await checkTrajectory(trajectoryOf(...copies(16)), yieldToLoop);
    expect(yields).toBe(16);
    expect(checked!.trajectory.histories).toHaveLength(17);
    expect(new Set(checked!.trajectory.histories.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  test.each([
    ['in one of them', trajectoryOf(...copies(3), { messages_and_choices: 5 }, ...copies(3))],
    ['beside them', { ...trajectoryOf(...copies(3)), reward: 'much' }],
    ['around them', { additional_histories: copies(3) }],
    ['in their number', trajectoryOf(...copies(1_001))],
  ])('that is wrong %s gets the same error as one that was not checked before', async (_, wrong) => {
    const faultsOf = (trajectories: unknown[]): unknown => {
      try {
        return parse(trajectoryGroup, { trajectories }, 'body');
      } catch (error) {
        return JSON.stringify((error as ValidationError).items);
      }
    };
    const faults = faultsOf([structuredClone(wrong)]);
    expect(faults).toMatch(/trajectories/);
    expect(await checkTrajectory(wrong, async () => {})).toBeNull();
    expect(faultsOf([wrong])).toEqual(faults);
  });
});
