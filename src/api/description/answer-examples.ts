// What a server answered to the examples that test/service/clients/described.test.ts sends, as that test writes it; the API reference
// shows it. Lists are shortened.
import { readFileSync } from 'node:fs';

type Answers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`./answer-examples/${name}.json`, import.meta.url), 'utf8'));

const parts = ['chat', 'training', 'service', 'tinker', 'wandb'].map((name) => read(name) as Answers);

/** By operation (method and path), then by content type for a success, else by status. */
export const ANSWER_EXAMPLES: Answers = Object.assign({}, ...parts) as Answers;

/** How the server refused requests that the examples became when something was wrong with them; by API and status. */
export const FAILURE_EXAMPLES = read('failures') as Readonly<Record<string, unknown>>;
