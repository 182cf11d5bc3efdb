// Every field of PEFT's LoraConfig (python/golden/make_peft_fields.py) has a decision, and what would change an adapter's meaning is refused.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parsePeftConfig, PEFT_FIELDS } from './peft-config.ts';

const file = new URL('../../test/support/golden/fixtures/peft-lora-fields.json', import.meta.url);
const { fields, written } = JSON.parse(readFileSync(file, 'utf8')) as {
  fields: string[];
  written: Record<string, unknown>;
};
const parse = (change: object) => parsePeftConfig(JSON.stringify({ ...written, ...change }), 'adapter_config.json');

test('every field that PEFT has or writes has a decision', () => {
  expect([...fields, ...Object.keys(written)].filter((field) => !Object.hasOwn(PEFT_FIELDS, field))).toEqual([]);
});

test("PEFT's defaults load", () => {
  expect(parse({})).toEqual({ rank: 8, alpha: 8, rankStabilized: false, targets: ['q_proj'] });
});

const unset = Object.keys(PEFT_FIELDS).filter((field) => PEFT_FIELDS[field] === 'unset');
test.each([...unset, 'a_field_of_tomorrow'])('%s is refused by name once it is set', (field) => {
  for (const value of [true, 1, 'x', ['x'], { x: 1 }, 0])
    expect(() => parse({ [field]: value })).toThrow(`${field} is not supported`);
  for (const value of [null, false, [], {}, '']) expect(parse({ [field]: value }).rank).toBe(8);
});

test.each(['pissa', 'pissa_niter_4', 'olora', 'loftq', 'corda', 'mica', 'lora_ga', 'new'])(
  'the initialisation %s is refused',
  (init) => expect(() => parse({ init_lora_weights: init })).toThrow(`init_lora_weights ${init} is not supported`),
);

test('what only says how an adapter was trained changes nothing', () => {
  const same = {
    lora_dropout: 0.1,
    inference_mode: true,
    init_lora_weights: 'gaussian',
    fan_in_fan_out: true,
    revision: 'x',
  };
  expect(parse({ ...same, use_rslora: true })).toMatchObject({ rank: 8, rankStabilized: true });
  expect(() => parse({ bias: 'all' })).toThrow('bias all is not supported');
});
