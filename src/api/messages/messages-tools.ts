// Tools of a Messages request → functions that the model is offered, and how it may call them. A tool that Anthropic's servers run is an
// offer to the server, which cannot take it: the model is not told of it, and a choice that needs it is refused.
import { given } from '#base/given';
import { nonEmpty } from '#base/non-empty';
import { asPythonKnows } from '#base/python-form';
import type { ToolDefinition } from '#domain/chat';
import type { ToolChoice } from '#services/chat/chat-request';
import { refuse } from '#validation/parse';
import { whyNotOffered } from './messages-decisions.ts';
import type { Tool, Wire } from './messages-fields.ts';

/** Throws a ValidationError for tools that are not supported. */
export function offeredTools(tools: Wire['tools']): {
  definitions: readonly ToolDefinition[] | null;
  warnings: readonly string[];
} {
  const definitions: ToolDefinition[] = [];
  const warnings: string[] = [];
  for (const [index, tool] of (tools ?? []).entries()) {
    const why = whyNotOffered(tool);
    if (why === null) definitions.push(toTool(tool, index));
    else warnings.push(`${tool.type} was not offered to the model: ${why}`);
  }
  return { definitions: nonEmpty(definitions), warnings };
}

function toTool(
  { type, name, description, input_schema: schema, strict, input_examples: examples, defer_loading: deferred }: Tool,
  index: number,
): ToolDefinition {
  const loc = ['body', 'tools', index];
  if (type && type !== 'custom')
    refuse(
      [...loc, 'type'],
      `Tools of type ${type.slice(0, 50)} are known only to Anthropic's models. Send a tool of your own, with an input_schema.`,
      type,
    );
  if (name === undefined) refuse([...loc, 'name'], 'A tool must have a name.', null);
  if (schema === undefined) refuse([...loc, 'input_schema'], 'A tool must have an input_schema.', null);
  const more = { ...('type' in schema ? {} : { type: 'object' }), ...(nonEmpty(examples) ? { examples } : {}) };
  return {
    type: 'function',
    function: {
      name,
      ...given({ description }),
      parameters: Object.keys(more).length > 0 ? asPythonKnows({ ...schema, ...more }, schema) : schema,
      ...given({ strict, defer_loading: deferred }),
    },
  };
}

export function toolChoice({ tool_choice: choice, tools }: Wire): ToolChoice {
  const own = (tools ?? []).filter((tool) => whyNotOffered(tool) === null);
  const isEmpty = own.length === 0;
  const { type = 'auto', name } = choice ?? {};
  if (type === 'tool') {
    const isOwn = own.some((tool) => tool.name === name);
    if (name !== undefined && isOwn) return { mode: 'named', callable: [name] };
    refuseChoice(choice, tools);
  }
  if (type === 'any' && isEmpty) refuseChoice(choice, tools);
  if (type === 'none' || isEmpty) return { mode: 'none', callable: null };
  return { mode: type === 'any' ? 'required' : 'auto', callable: null };
}

/** A call that no tool can answer. */
function refuseChoice(choice: Wire['tool_choice'], tools: Wire['tools']): never {
  const name = choice?.name ?? null;
  if (!tools || tools.length === 0)
    refuse(['body', 'tool_choice'], 'When using `tool_choice`, `tools` must be set.', choice);
  const forced = tools.find((tool) => whyNotOffered(tool) && (choice?.type === 'any' || tool.name === name));
  if (!forced) refuse(['body', 'tool_choice', 'name'], 'tool_choice names a tool that is not in tools.', name);
  const why = whyNotOffered(forced);
  refuse(
    ['body', 'tool_choice'],
    `tool_choice asks for a call of ${forced.type}, which is not offered to the model: ${why} Send a tool of your own.`,
    choice,
  );
}
