// Tools of a Responses request → functions that the model is offered, and the model's calls → function_call items. Functions in a
// `namespace` are offered under one joined name, and their calls come back with the namespace. A `web_search` is an offer to the server,
// which cannot take it: the model is not told of it. Other built-in tools are refused.
import type { z } from 'zod';
import { given } from '#base/given';
import type { ToolDefinition } from '#domain/chat';
import type { ToolChoice } from '#services/chat/chat-request';
import { refuse, type Loc } from '#validation/parse';
import { joinedName, type NamespacedName } from './namespaced-name.ts';
import type { functionTool, Wire } from './responses-fields.ts';

/** By the name under which the model knows the function. Stored with background responses. */
export type Namespaces = Readonly<Record<string, NamespacedName>>;

export interface OfferedTools {
  readonly definitions: readonly ToolDefinition[];
  readonly namespaces: Namespaces;
  readonly warnings: readonly string[];
}

type Tool = z.output<typeof functionTool>;

const isWebSearch = (type: string): boolean => /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/.test(type);

/** Throws a ValidationError for tools that are not supported, and for two functions with one name. */
export function offeredTools(tools: Wire['tools']): OfferedTools {
  const definitions: ToolDefinition[] = [];
  const namespaces: Record<string, NamespacedName> = {};
  const warnings: string[] = [];
  for (const [index, each] of (tools ?? []).entries()) {
    const loc = ['body', 'tools', index];
    if (isWebSearch(each.type))
      warnings.push(`${each.type} was not offered to the model: this server does not search the web.`);
    else if (each.type === 'namespace') {
      const { name: namespace } = each;
      if (namespace === undefined) refuse([...loc, 'name'], 'A namespace must have a name.', null);
      for (const [at, inside] of (each.tools ?? []).entries()) {
        const definition = toFunction(inside, [...loc, 'tools', at]);
        const name = joinedName({ namespace, name: definition.function.name });
        namespaces[name] = { namespace, name: definition.function.name };
        const description = [each.description, definition.function.description].filter(Boolean).join('\n');
        definitions.push({
          ...definition,
          function: { ...definition.function, name, ...(description ? { description } : {}) },
        });
      }
    } else definitions.push(toFunction(each, loc));
  }
  if (Object.keys(namespaces).length > 0) refuseTwins(definitions);
  return { definitions, namespaces, warnings };
}

function refuseTwins(definitions: readonly ToolDefinition[]): void {
  const seen = new Set<string>();
  for (const {
    function: { name },
  } of definitions) {
    if (seen.has(name))
      refuse(
        ['body', 'tools'],
        `Two functions would have the name ${name.slice(0, 100)} for the model. Rename one.`,
        name,
      );
    seen.add(name);
  }
}

function toFunction(sent: Tool, loc: Loc): ToolDefinition {
  const { type, name, description, parameters, strict, output_schema: result, defer_loading: deferred } = sent;
  if (type === 'custom')
    refuse(
      [...loc, 'type'],
      'Custom tools, which take free text, are not supported. Send a function with one string parameter instead.',
      type,
    );
  if (type !== 'function')
    refuse(
      [...loc, 'type'],
      `Built-in tools such as ${type.slice(0, 50)} are not supported. Send your own functions.`,
      type,
    );
  if (name === undefined) refuse([...loc, 'name'], 'A function must have a name.', null);
  return {
    type,
    function: {
      name,
      ...given({ description, parameters, return: result, strict, defer_loading: deferred }),
    },
  };
}

type NamedChoice = { readonly name: string; readonly namespace?: string | null | undefined };

/** Without its namespace, it is the only function of this name in any, as in vLLM. */
function chosenName({ name, namespace }: NamedChoice, names: readonly string[], namespaces: Namespaces): string {
  if (namespace) return joinedName({ namespace, name });
  const within = Object.keys(namespaces).filter((each) => namespaces[each]!.name === name);
  return !names.includes(name) && within.length === 1 ? within[0]! : name;
}

export function toolChoice({ tool_choice: choice }: Wire, { definitions, namespaces }: OfferedTools): ToolChoice {
  const names = definitions.map(({ function: { name } }) => name);
  if (choice === undefined || choice === null || typeof choice === 'string') {
    const mode = choice ?? 'auto';
    if (mode === 'required' && names.length === 0)
      refuse(['body', 'tool_choice'], 'When using `tool_choice`, `tools` must be set.', choice);
    return { mode: names.length === 0 ? 'none' : mode, callable: null };
  }
  const chosen = choice.type === 'function' ? [choice] : choice.tools;
  const callable = chosen.map((each) => chosenName(each, names, namespaces));
  const unknown = callable.find((name) => !names.includes(name));
  if (unknown !== undefined)
    refuse(['body', 'tool_choice'], `tool_choice names ${unknown.slice(0, 100)}, which is not in tools.`, choice);
  return choice.type === 'function' ? { mode: 'named', callable } : { mode: choice.mode, callable };
}
