// The examples of answers as files of src/api/description/answer-examples: which ones each operation has, and how they are written. Knows
// no server.
import type { Tag } from '#api/http/endpoint';
import type { Described } from './example-calls.ts';

const TAGS: Readonly<Record<string, readonly Tag[]>> = {
  chat: ['Chat'],
  training: ['Models', 'Checkpoints', 'Training jobs', 'Episodes'],
  service: ['Artifacts', 'Runs', 'Keys', 'Webhooks', 'Workers', 'Server'],
  tinker: ['Tinker'],
  wandb: ['W&B'],
};

/** By operation, then by content type. */
type Recorded = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const answerFiles = (
  operations: readonly Described[],
  recorded: Recorded,
  failures: Readonly<Record<string, unknown>>,
): { readonly path: string; readonly text: string }[] => [
  ...Object.entries(TAGS).map(([file, tags]) => {
    const those = operations.filter(({ operation }) => (tags as readonly string[]).includes(operation.tags[0]!));
    const named = those.filter(({ name }) => name in recorded).map(({ name }) => [name, recorded[name]] as const);
    return { path: `${file}.json`, text: textOf(Object.fromEntries(named)) };
  }),
  {
    path: 'failures.json',
    text: textOf(Object.fromEntries(Object.entries(failures).sort(([a], [b]) => (a < b ? -1 : 1)))),
  },
];

const textOf = (data: object): string => `${JSON.stringify(data, null, 2)}\n`;
