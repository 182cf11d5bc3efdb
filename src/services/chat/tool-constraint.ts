// Turns the tool settings of a request into a constraint, in the syntax that the model's chat template uses, so that one parser reads
// forced and optional calls. `required` and a named tool: the answer consists of calls. Under `auto`, if a tool is strict or not all may
// be called: text is free, and a call that has begun is one of those tools, with arguments of its schema. If the answer has a required
// format, it has that format or consists of calls.
import { stringifyExactJson } from '#base/exact-json';
import { isObject } from '#base/is-object';
import type { ToolDefinition } from '#domain/chat';
import type { Constraint } from '#domain/constraint';
import { AppError } from '#domain/errors';
import type { ToolSyntax } from '#text/tool-parser';
import type { ToolChoice } from './chat-request.ts';
import type { Format } from './tool-constraint/argument-formats.ts';
import { CALL_SYNTAXES, type CallSyntax } from './tool-constraint/call-syntaxes.ts';
import { Inexpressible, Unwritable } from './tool-constraint/parameters.ts';

/**
 * `form`: the constraint on an answer that is not a call; null: its text is free. Returns null if nothing needs to be constrained. Throws
 * `invalid_constraint` for a strict tool that the syntax cannot enforce, and for a forced one that it cannot write.
 */
export function toolConstraint(
  { mode, callable }: ToolChoice,
  tools: readonly ToolDefinition[],
  { name: syntaxName }: ToolSyntax,
  parallel: boolean,
  form: Constraint | null = null,
): Constraint | null {
  if (mode === 'none') return form;
  if (form === null && areCallsFree({ mode, callable }, tools)) return null;
  const syntax = CALL_SYNTAXES[syntaxName];
  const tags = tools
    .filter((tool) => callable === null || callable.includes(tool.function.name))
    .flatMap((tool) => {
      checkName(tool, mode, syntax, syntaxName);
      const content =
        syntax.arguments === null ? jsonObject(tool, mode) : written(tool, mode, syntax.arguments, syntaxName);
      return syntax.begin(tool.function.name).map((begin) => ({ begin, content, end: syntax.end }));
    });
  const calls = { tags, stop_after_first: mode === 'named' || !parallel };
  if (mode === 'auto' && form === null) return tag(syntax.free(calls));
  return form === null
    ? tag(syntax.forced(calls))
    : { kind: 'either', source: stringifyExactJson([tag(syntax.forced(calls)), form]) };
}

/** Nothing about calls needs to be constrained. */
export const areCallsFree = ({ mode, callable }: ToolChoice, tools: readonly ToolDefinition[]): boolean =>
  mode === 'auto' && callable === null && !tools.some(isStrict);

const isStrict = (tool: ToolDefinition): boolean => tool.function.strict === true;

const tag = (format: object): Constraint => ({
  kind: 'structural_tag',
  source: stringifyExactJson({ type: 'structural_tag', format }),
});

const ANY_OBJECT = { type: 'object' };

const jsonObject = (tool: ToolDefinition, mode: ToolChoice['mode']): Format => ({
  type: 'json_schema',
  ...(isStrict(tool) ? { json_schema: schemaOf(tool) } : loosely(tool, mode)),
});

/**
 * Unknown arguments break the call, so other properties are forbidden, but for those that are required without a schema. In a combined
 * schema, only its parts know the properties.
 */
function schemaOf({ function: { parameters } }: ToolDefinition): object {
  const given: Readonly<Record<string, unknown>> = isObject(parameters) ? parameters : {};
  if (COMBINING.some((key) => Object.hasOwn(given, key))) return { ...ANY_OBJECT, ...given };
  if (given.additionalProperties !== undefined || !Array.isArray(given.required))
    return { ...ANY_OBJECT, additionalProperties: false, ...given };
  const required = Object.fromEntries(given.required.map((name) => [String(name), {}]));
  const properties = { ...required, ...(isObject(given.properties) ? given.properties : {}) };
  return { ...ANY_OBJECT, additionalProperties: false, ...given, properties };
}

const COMBINING = ['$ref', 'allOf', 'anyOf', 'oneOf'];

/** The tool is not strict: if its schema cannot be enforced, a call without it is better than none. */
const loosely = (tool: ToolDefinition, mode: ToolChoice['mode']): object =>
  mode === 'auto' ? { json_schema: ANY_OBJECT } : { json_schema: schemaOf(tool), otherwise: ANY_OBJECT };

/** The same for arguments that are not a JSON object. */
function written(
  tool: ToolDefinition,
  mode: ToolChoice['mode'],
  { any, write }: NonNullable<CallSyntax['arguments']>,
  syntax: string,
): Format {
  if (mode === 'auto' && !isStrict(tool)) return any;
  try {
    return write(tool, isStrict(tool));
  } catch (error) {
    if (!(error instanceof Inexpressible)) throw error;
    if (error instanceof Unwritable) throw unwritable(tool, syntax, error.message, error);
    if (!isStrict(tool)) return any;
    const name = JSON.stringify(tool.function.name);
    const message = `The tool ${name} is strict, but its parameters cannot be enforced in the tool-call syntax "${syntax}" of this model: ${error.message}. Simplify the parameters, or send the tool without \`strict\`.`;
    throw new AppError('invalid_constraint', message, { param: 'tools', cause: error });
  }
}

/** Only calls that must come are refused: under `auto`, the model may still do without the tool. */
function checkName(tool: ToolDefinition, mode: ToolChoice['mode'], { names }: CallSyntax, syntax: string): void {
  const { name } = tool.function;
  if ((mode === 'auto' && !isStrict(tool)) || names.test(name)) return;
  throw unwritable(tool, syntax, `the name ${JSON.stringify(name)} is not supported`);
}

function unwritable({ function: { name } }: ToolDefinition, syntax: string, why: string, cause?: Error): AppError {
  const message = `The tool ${JSON.stringify(name)} cannot be called in the tool-call syntax "${syntax}" of this model: ${why}. Rename it, or leave the choice to the model with tool_choice "auto".`;
  return new AppError('invalid_constraint', message, { param: 'tools', cause });
}
