// Settings of a job as lines of a name and a text: nested ones by the path to them, so that no reader meets JSON. Shared by the commands
// and the dashboard.

type Settings = Readonly<Record<string, unknown>>;

/** `{ epochs: 2, optimizer: { beta1: 0.9 } }` is `epochs` 2 and `optimizer.beta1` 0.9. Lists are joined by commas. */
export const settingLines = (settings: Settings, before = ''): [name: string, text: string][] =>
  Object.entries(settings).flatMap(([name, value]) =>
    isNested(value) ? settingLines(value, `${before}${name}.`) : [[`${before}${name}`, textOf(value)]],
  );

const isNested = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const isPlainList = Array.isArray(value) && value.length > 0 && value.every((each) => typeof each !== 'object');
  return isPlainList ? value.join(', ') : JSON.stringify(value);
}
