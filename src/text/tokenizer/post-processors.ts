// Post-processors of a tokenizer.json, for one text: tokens that are put before and after it, and spaces that places leave out. Pairs of
// texts do not occur here.
import type { Fields } from './fields.ts';
import { fieldsOf, flatten } from './fields.ts';
import { isObject } from '#base/is-object';

/** Tokens of a text, and where they stand in it. */
export interface Encoded {
  readonly ids: number[];
  /** In UTF-16 units; both are 0 for a token that a post-processor adds. */
  readonly begins: number[];
  readonly ends: number[];
  /** By their index: what added tokens were in the text, with the white space that they took, and what unknown tokens stand for. */
  readonly written: Map<number, string>;
}

export interface Processing {
  readonly text: string;
  /** Id → token. */
  readonly spelling: (id: number) => string;
  readonly addSpecialTokens: boolean;
}

export type PostProcess = (encoded: Encoded, processing: Processing) => Encoded;

/** Makes other parts of the parts of one text; only TemplateProcessing makes several. */
type Step = (parts: readonly Encoded[], processing: Processing) => readonly Encoded[];

/** Throws `bad_model_files`. */
export function readPostProcessor(value: unknown): PostProcess {
  if ((value ?? null) === null) return (encoded) => encoded;
  const all = flatten(fieldsOf(value, 'post_processor'), 'processors');
  const template = all.findIndex(({ type }) => type === 'TemplateProcessing');
  const second = all.find(({ type }, i) => template >= 0 && i > template && type !== 'ByteLevel');
  if (second !== undefined)
    throw second.refuse(`has the type ${second.type} after TemplateProcessing, which is not supported`);
  const steps = all.map(readOne);
  return (encoded, processing) =>
    joined(steps.reduce<readonly Encoded[]>((parts, step) => step(parts, processing), [encoded]));
}

function readOne(fields: Fields): Step {
  if (!Object.hasOwn(KINDS, fields.type))
    throw fields.refuse(`has the type ${JSON.stringify(fields.type)}; known are ${Object.keys(KINDS).join(', ')}`);
  return KINDS[fields.type]!(fields);
}

const KINDS: Readonly<Record<string, (fields: Fields) => Step>> = {
  TemplateProcessing: readTemplate,
  BertProcessing: readAround,
  RobertaProcessing(fields) {
    const [trim, around] = [readTrim(fields), readAround(fields)];
    return (parts, processing) => around(trim(parts, processing), processing);
  },
  ByteLevel: readTrim,
};

/** `["[CLS]", 101]` */
function tokenId(fields: Fields, name: string): number {
  const pair = fields.raw(name);
  const id: unknown = Array.isArray(pair) ? pair[1] : undefined;
  if (!Number.isSafeInteger(id) || (id as number) < 0) throw fields.refuse(`must have ${name}, a token and its id`);
  return id as number;
}

function readAround(fields: Fields): Step {
  const [first, last] = [tokenId(fields, 'cls'), tokenId(fields, 'sep')];
  return (parts, { addSpecialTokens }) =>
    addSpecialTokens ? [joined([added([first]), ...parts, added([last])])] : parts;
}

const added = (ids: number[]): Encoded => ({
  ids,
  begins: ids.map(() => 0),
  ends: ids.map(() => 0),
  written: new Map(),
});

function joined(parts: readonly Encoded[]): Encoded {
  const all: Encoded = { ids: [], begins: [], ends: [], written: new Map() };
  for (const { ids, begins, ends, written } of parts) {
    for (const [index, text] of written) all.written.set(all.ids.length + index, text);
    for (const [i, id] of ids.entries()) {
      all.ids.push(id);
      all.begins.push(begins[i]!);
      all.ends.push(ends[i]!);
    }
  }
  return all;
}

function readTemplate(fields: Fields): Step {
  const tokens = fields.raw('special_tokens');

  function idsOf(name: string): readonly number[] {
    const token = isObject(tokens) ? tokens[name] : null;
    const ids: unknown = isObject(token) ? token.ids : null;
    if (!Array.isArray(ids) || !ids.every((id) => Number.isSafeInteger(id) && id >= 0))
      throw fields.refuse(`must have ${JSON.stringify(name)} in special_tokens, with its ids`);
    return ids as number[];
  }
  /** Ids of a token, or null for the text. */
  const pieces = fields.parts('single').map((piece): readonly number[] | null => {
    if (piece.raw('Sequence') === undefined) return idsOf(piece.part('SpecialToken').text('id'));
    piece.part('Sequence').oneOf('id', ['A']);
    return null;
  });
  return (parts, { addSpecialTokens }) =>
    pieces.flatMap((ids) => (ids === null ? parts : addSpecialTokens ? [added([...ids])] : []));
}

const SPACE = /^[Ġ\p{White_Space}]$/u;

/** Places of tokens leave out the spaces with which the tokens begin and end. */
function readTrim(fields: Fields): Step {
  const [trims, addsSpace] = [fields.flag('trim_offsets'), fields.flag('add_prefix_space')];
  if (!trims) return (parts) => parts;
  const trim = (encoded: Encoded, { text, spelling }: Processing): Encoded => {
    const [begins, ends] = [[...encoded.begins], [...encoded.ends]];
    for (const [i, id] of encoded.ids.entries()) {
      const characters = Array.from(encoded.written.get(i) ?? spelling(id));
      const letter = characters.findIndex((character) => !SPACE.test(character));
      let leading = letter < 0 ? characters.length : letter;
      const trailing = letter < 0 ? characters.length : characters.reverse().findIndex((each) => !SPACE.test(each));
      // The space that the pre-tokenizer puts before a text has no place there.
      if (leading === 1 && addsSpace && (i === 0 || begins[i] === 0)) leading = 0;
      begins[i] = Math.min(forward(text, begins[i]!, leading), ends[i]!);
      if (countTo(text, ends[i]!, trailing)) ends[i] = Math.max(backward(text, ends[i]!, trailing), begins[i]);
    }
    return { ...encoded, begins, ends };
  };
  return (parts, processing) => parts.map((part) => trim(part, processing));
}

/** Characters are counted, so that a pair of surrogates is one. */
function forward(text: string, at: number, count: number): number {
  for (let i = 0; i < count; i++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

function backward(text: string, at: number, count: number): number {
  for (let i = 0; i < count; i++) at -= at > 1 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** Whether there are that many characters before a place. */
const countTo = (text: string, at: number, count: number): boolean => backward(text, at, count) >= 0;
