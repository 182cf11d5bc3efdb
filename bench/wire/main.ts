// `npm run bench -- wire`: what carrying tokens and gradient steps costs, in each process that they pass, from an engine that is a child of
// the server and from one behind a worker. Counted is the time of processors and not of clocks, which a busy machine changes little.
// `npm run bench -- wire tokens` or `-- steps`: one of the two.
import { gradientSteps } from './gradient-steps.ts';
import { tokens } from './tokens.ts';

const PARTS = { tokens, steps: gradientSteps };

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in PARTS));
if (unknown !== undefined) throw new Error(`${unknown} is none of ${Object.keys(PARTS).join(', ')}.`);
for (const [name, measure] of Object.entries(PARTS)) if (asked.length === 0 || asked.includes(name)) await measure(say);
