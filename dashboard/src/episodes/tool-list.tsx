// The tools that a call offered to the model, folded: an agent's definitions may be longer than its conversation.
import { counted } from '../ui/numbers.ts';
import { Text } from '../ui/text.tsx';

export function ToolList({ tools }: { tools: readonly Readonly<Record<string, unknown>>[] }) {
  return (
    <details class="folded">
      <summary>
        {counted(tools.length, 'tool')}: <Text>{tools.map(nameOf).join(', ')}</Text>
      </summary>
      {tools.map((tool, at) => (
        <div key={at} class="tool-call">
          <div class="tool-name">
            <Text>{nameOf(tool)}</Text>
          </div>
          <Text block>{JSON.stringify(tool['function'] ?? tool, null, 2)}</Text>
        </div>
      ))}
    </details>
  );
}

function nameOf(tool: Readonly<Record<string, unknown>>): string {
  const { name, type } = (tool['function'] ?? tool) as { readonly name?: unknown; readonly type?: unknown };
  return [name, type].find((each) => typeof each === 'string') ?? 'tool';
}
