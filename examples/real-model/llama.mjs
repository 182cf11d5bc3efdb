// The same answers from llama.cpp: node llama.mjs GGUF TASKS MODEL [COUNT]. Asks the server for the likeliest answer of a model to each
// task, gives the same prompt tokens to llama.cpp with the exported file, and compares the tokens of the answers. Exits with 1 if any
// differ. Needs node-llama-cpp: npm install --prefix bench/peers --ignore-scripts
import { readFile } from 'node:fs/promises';
import { createClient } from 'whetstone/client';
import { LlamaLogLevel, getLlama } from '../../bench/peers/node_modules/node-llama-cpp/dist/index.js';

const [file, tasksFile, model, count = '16'] = process.argv.slice(2);
const MAX_TOKENS = 8;

const client = createClient({ baseUrl: process.env.WHETSTONE_URL, apiKey: process.env.WHETSTONE_API_KEY });
const all = (await readFile(tasksFile, 'utf8')).split('\n').filter(Boolean).map(JSON.parse);
const tasks = all.slice(0, Number(count));

// One thread: several wait for each other by spinning, which takes minutes on a machine that is busy.
const llama = await getLlama({ gpu: false, build: 'never', maxThreads: 1, logLevel: LlamaLogLevel.error });
const loaded = await llama.loadModel({ modelPath: file });
const context = await loaded.createContext({ contextSize: 512, threads: 1, flashAttention: false });
const sequence = context.getSequence();
let equal = 0;
for (const { messages } of tasks) {
  const asked = messages.filter(({ role }) => role !== 'assistant');
  const settings = { temperature: 0, max_tokens: MAX_TOKENS, return_token_ids: true };
  const { choices, prompt_token_ids } = await client.chat({ model, messages: asked, ...settings });
  const [{ token_ids: ours, message }] = choices;
  const theirs = [];
  for await (const token of sequence.evaluate(prompt_token_ids, { temperature: 0, yieldEogToken: true })) {
    theirs.push(token);
    if (theirs.length === ours.length) break;
  }
  await sequence.clearHistory();
  if (String(theirs) === String(ours)) equal++;
  else console.log(`different: Whetstone says "${message.content}", llama.cpp "${loaded.detokenize(theirs)}"`);
}
await llama.dispose();
console.log(`${equal} of ${tasks.length} answers of llama.cpp have the same tokens`);
process.exitCode = equal === tasks.length ? 0 : 1;
