// The tools of a request in the forms in which a chat template may take them. Clients may leave out what a function is for and its
// parameters; some templates read both without asking. They get null, as vLLM gives to all, or else what the absence means: no words,
// and no parameters. chat-template.ts tries one form after another.
import { asPythonKnows } from '#base/python-form';
import type { ToolDefinition } from '#domain/chat';

/** As they are first. */
export function toolForms(tools: readonly ToolDefinition[] | null): readonly (readonly ToolDefinition[] | null)[] {
  const lacks = tools?.some((tool) => isAbsent(tool.function['description']) || isAbsent(tool.function['parameters']));
  if (!tools || !lacks) return [tools];
  return [tools, tools.map((tool) => filled(tool, null, null)), tools.map((tool) => filled(tool, '', NO_PARAMETERS))];
}

const NO_PARAMETERS = { type: 'object', properties: {} } as const;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function filled(tool: ToolDefinition, description: string | null, parameters: object | null): ToolDefinition {
  const { name, ...rest } = tool.function;
  const { description: told, parameters: given, ...more } = rest;
  const called = { name, description: told ?? description, parameters: given ?? parameters, ...more };
  return asPythonKnows({ ...tool, function: asPythonKnows(called, tool.function) }, tool);
}
