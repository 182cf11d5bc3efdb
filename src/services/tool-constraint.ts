// tool_choice `required` and a named tool → a constraint under which the model can only call: in the syntax that its chat
// template teaches, with arguments that keep to the tool's schema, so that the same parser reads forced and free calls.
import type { ToolDefinition } from '#domain/chat';
import type { Constraint } from '#domain/constraint';
import type { ToolSyntax } from '#text/tool-parser';
import type { ToolChoice } from './chat-request.ts';

/** Null: calls are not forced. */
export function toolConstraint(
  choice: ToolChoice,
  tools: readonly ToolDefinition[],
  syntax: ToolSyntax,
  parallel: boolean,
): Constraint | null {
  if (choice === 'none' || choice === 'auto') return null;
  const callable = typeof choice === 'object' ? tools.filter((tool) => tool.function.name === choice.name) : tools;
  const { begin, end, separator } = TAGS[syntax.name];
  const format = {
    type: 'tags_with_separator',
    tags: callable.map(({ function: { name, parameters } }) => ({
      begin: begin(JSON.stringify(name)),
      // Arguments that a function does not know break the call.
      content: {
        type: 'json_schema',
        json_schema: { type: 'object', additionalProperties: false, ...(parameters as object) },
      },
      end,
    })),
    separator,
    at_least_one: true,
    stop_after_first: typeof choice === 'object' || !parallel,
  };
  return { kind: 'structural_tag', source: JSON.stringify({ type: 'structural_tag', format }) };
}

const TAGS: Readonly<Record<ToolSyntax['name'], { begin: (name: string) => string; end: string; separator: string }>> =
  {
    hermes: {
      begin: (name) => `<tool_call>\n{"name": ${name}, "arguments": `,
      end: '}\n</tool_call>',
      separator: '\n',
    },
    llama3: { begin: (name) => `{"name": ${name}, "parameters": `, end: '}', separator: '; ' },
  };
