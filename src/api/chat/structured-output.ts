// structured_outputs and response_format on the wire → one Constraint. The engine decides whether it compiles.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { parseExactJson, stringifyExactJson } from '#base/exact-json';
import type { Constraint } from '#domain/constraint';
import { boolean, union } from '#validation/lax';
import type { Complaint } from '#validation/parse';

const KINDS = ['json', 'regex', 'choice', 'grammar', 'json_object', 'structural_tag'] as const;

const CHOICES_MAX = 10_000; // a grammar with one alternative per choice

export const structuredOutputs = z
  .looseObject({
    json: union({ str: z.string(), dict: z.looseObject({}) })
      .nullish()
      .describe('A JSON schema.'),
    regex: z.string().nullish().describe('Regular expression that the whole answer matches.'),
    choice: z.array(z.string()).min(1).max(CHOICES_MAX).nullish().describe('The answer is one of these texts.'),
    grammar: z.string().nullish().describe('A grammar: EBNF (GBNF) with a rule `root`, or Lark with a rule `start`.'),
    json_object: boolean().nullish().describe('Any JSON object.'),
    structural_tag: z
      .string()
      .nullish()
      .describe('Structural tag, as JSON text: free text with parts that match schemas.'),
    disable_fallback: boolean().nullish().describe('Accepted without effect: there is only one grammar engine.'),
    disable_any_whitespace: boolean().nullish().describe('Generate compact JSON, without white space.'),
    disable_additional_properties: boolean()
      .nullish()
      .describe('Objects have only the properties in the schema, unless the schema says otherwise. Default: true.'),
    whitespace_pattern: z.string().nullish().describe('Regular expression for white space in JSON.'),
  })
  .superRefine((value, ctx) => {
    const set = KINDS.filter((kind) => value[kind] !== undefined && value[kind] !== null);
    if (set[0] === 'json_object' && set.length === 1 && value.json_object === false)
      complain(ctx, ['json_object'], 'json_object is true or left out: false would constrain nothing.');
    if (set.length === 1) return;
    const found = set.length === 0 ? 'none is set' : `${set.join(' and ')} are set`;
    complain(ctx, [], `Exactly one of ${KINDS.join(', ')} must be set: ${found}.`);
  });

/** For the fields that name and describe a schema. */
export const NOT_IN_PROMPT = { description: 'No effect: a schema constrains the answer and is no part of the prompt.' };

export const jsonSchema = z.looseObject({
  name: z.string().nullish().meta(NOT_IN_PROMPT),
  description: z.string().nullish().meta(NOT_IN_PROMPT),
  schema: z.looseObject({}).nullish(),
  strict: boolean()
    .nullish()
    .describe(
      'The answer always matches the schema. false: objects may have properties that the schema does not name.',
    ),
});

export const responseFormat = z
  .looseObject({
    type: z.enum(['text', 'json_object', 'json_schema', 'json', 'structural_tag']),
    json_schema: jsonSchema.nullish(),
    schema: z.looseObject({}).nullish().describe('The schema of json_object and json, as in llama.cpp.'),
    value: z.looseObject({}).nullish().describe('The same schema, as in TGI.'),
    format: z.looseObject({}).nullish(),
    structures: z
      .array(
        z.looseObject({
          begin: z.string().describe('Text that starts the part.'),
          schema: z.looseObject({}).nullish(),
          end: z.string().describe('Text that ends the part.'),
        }),
      )
      .nullish()
      .describe('Parts of the answer that must match a schema.'),
    triggers: z.array(z.string()).nullish().describe('Texts after which a part must match its schema.'),
  })
  .superRefine((value, ctx) => {
    if (value.type === 'json_schema' && !value.json_schema?.schema)
      complain(ctx, ['json_schema'], 'response_format of type json_schema needs json_schema.schema.');
    if (value.type === 'json' && !value.schema && !value.value)
      complain(ctx, ['value'], 'response_format of type json needs a JSON schema in value or schema.');
    if (value.type === 'structural_tag' && !value.format && !(value.structures && value.triggers))
      complain(ctx, ['format'], 'response_format of type structural_tag needs format, or structures and triggers.');
  })
  .meta({ title: 'ResponseFormat' });

export type StructuredOutputs = z.output<typeof structuredOutputs>;
export type ResponseFormat = z.output<typeof responseFormat>;

export function constraintOf(outputs: StructuredOutputs): Constraint {
  const { json, regex, choice, grammar, structural_tag: tag } = outputs;
  if (json !== undefined && json !== null) {
    return {
      kind: 'json_schema',
      source: typeof json === 'string' ? json : stringifyExactJson(json),
      anyWhitespace: outputs.disable_any_whitespace !== true,
      whitespacePattern: outputs.whitespace_pattern ?? null,
      strict: outputs.disable_additional_properties !== false,
    };
  }
  if (typeof regex === 'string') return { kind: 'regex', source: regex };
  if (choice) return { kind: 'ebnf', source: `root ::= ${choice.map(ebnfLiteral).join(' | ')}` };
  if (typeof grammar === 'string') return { kind: 'ebnf', source: grammar };
  if (typeof tag === 'string') return { kind: 'structural_tag', source: currentForm(tag) };
  return { ...ANY_OBJECT, anyWhitespace: outputs.disable_any_whitespace !== true };
}

/** Null: the text is not constrained. */
export function formatConstraint(format: ResponseFormat): Constraint | null {
  if (format.type === 'text') return null;
  if (format.type === 'structural_tag')
    return { kind: 'structural_tag', source: currentForm(stringifyExactJson(format)) };
  const schema = format.type === 'json_schema' ? format.json_schema!.schema : (format.schema ?? format.value);
  if (!schema) return ANY_OBJECT;
  const strict = format.type !== 'json_schema' || format.json_schema!.strict !== false;
  return { ...ANY_OBJECT, source: stringifyExactJson(schema), strict };
}

const ANY_OBJECT = {
  kind: 'json_schema',
  source: '{"type":"object"}',
  anyWhitespace: true,
  whitespacePattern: null,
  strict: false,
} as const;

/** A GBNF literal; everything except printable ASCII is escaped. */
function ebnfLiteral(text: string): string {
  const escaped = Array.from(text, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    if (character >= ' ' && character <= '~') return character;
    return `\\U${character.codePointAt(0)!.toString(16).padStart(8, '0')}`;
  });
  return `"${escaped.join('')}"`;
}

/** The older format lists structures and their triggers. Invalid JSON is passed on: the engine reports the error. */
function currentForm(text: string): string {
  let tag: unknown;
  try {
    tag = parseExactJson(text);
  } catch {
    return text;
  }
  if (!isObject(tag) || !Array.isArray(tag.structures)) return text;
  const { structures, triggers } = tag as {
    structures: { begin: string; schema?: unknown; end: string }[];
    triggers?: unknown;
  };
  const tags = structures.map(({ begin, schema, end }) => ({
    begin,
    content: { type: 'json_schema', json_schema: schema ?? {} },
    end,
  }));
  return stringifyExactJson({ type: 'structural_tag', format: { type: 'triggered_tags', triggers, tags } });
}

function complain(ctx: z.core.$RefinementCtx, path: string[], text: string): void {
  const complaint: Complaint = { type: 'value_error', msg: `Value error, ${text}`, ctx: { error: {} } };
  ctx.addIssue({ code: 'custom', path, message: complaint.msg, params: { complaint } });
}
