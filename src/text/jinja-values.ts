// Converts between our values and those of @huggingface/jinja's interpreter. The library exports no value classes; an environment
// provides them. Building values ourselves preserves what the library would lose: floats without a fraction, large integers.
import { Environment } from '@huggingface/jinja';
import { PythonFloat, pythonFloatText } from './python-json.ts';

export interface JinjaValue {
  readonly type: string;
  readonly value: unknown;
}

/** Values of the interpreter are passed through unchanged; other results are converted. */
export type JinjaFunction = (positional: readonly JinjaValue[], keywords: ReadonlyMap<string, JinjaValue>) => unknown;

/** The part of the library's environment that we use; its own declarations do not resolve under Node's module rules. */
export interface JinjaEnvironment {
  set(name: string, value: unknown): JinjaValue;
  setVariable(name: string, value: JinjaValue): JinjaValue;
}

export const createEnvironment = (): JinjaEnvironment => new (Environment as new () => JinjaEnvironment)();

type ValueClass = new (value?: unknown) => JinjaValue;

const classOf = (example: unknown): ValueClass => createEnvironment().set('example', example).constructor as ValueClass;

const StringValue = classOf('');
const IntegerValue = classOf(0);
const FloatValue = classOf(0.5);
const BooleanValue = classOf(true);
const NullValue = classOf(null);
const UndefinedValue = classOf(undefined);
const ArrayValue = classOf([]);
const ObjectValue = classOf({});
const FunctionValue = classOf(() => null);
const AnyValue = Object.getPrototypeOf(StringValue) as ValueClass;

export function toJinja(value: unknown): JinjaValue {
  if (value instanceof AnyValue) return value;
  if (value === null) return new NullValue(null);
  if (value === undefined) return new UndefinedValue(undefined);
  if (typeof value === 'string') return new StringValue(value);
  if (typeof value === 'boolean') return new BooleanValue(value);
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value)))
    return new IntegerValue(value);
  if (typeof value === 'number') return floatValue(value);
  if (value instanceof PythonFloat) return floatValue(value.value);
  if (Array.isArray(value)) return new ArrayValue(value.map(toJinja));
  return new ObjectValue(new Map(Object.entries(value).map(([key, item]) => [key, toJinja(item)])));
}

function floatValue(value: number): JinjaValue {
  return Object.assign(new FloatValue(value), { toString: () => pythonFloatText(value) });
}

export function jinjaFunction(call: JinjaFunction): JinjaValue {
  return new FunctionValue((args: readonly JinjaValue[]) => {
    const last = args.at(-1);
    const hasKeywords = last?.type === 'KeywordArgumentsValue';
    const keywords = hasKeywords ? (last.value as Map<string, JinjaValue>) : new Map<string, JinjaValue>();
    return toJinja(call(hasKeywords ? args.slice(0, -1) : args, keywords));
  });
}

/** A dict whose items are values already. */
export const jinjaDict = (items: ReadonlyMap<string, JinjaValue>): JinjaValue => new ObjectValue(new Map(items));

/** For serialisation: dicts become Maps, floats PythonFloat, undefined stays undefined. */
export function fromJinja({ type, value }: JinjaValue): unknown {
  if (type === 'FloatValue') return new PythonFloat(value as number);
  if (Array.isArray(value)) return (value as JinjaValue[]).map(fromJinja);
  if (value instanceof Map)
    return new Map([...(value as Map<string, JinjaValue>)].map(([key, item]) => [key, fromJinja(item)]));
  return value;
}
