// A process that sends a server requests that need no model, one after another, and records the times: the cost of the API itself. It is
// separate because the process that drives hundreds of streams would add its own delays. Forked by probing.ts; ends when its parent asks
// it to, and reports its measurements in a message.
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProbeStart {
  readonly url: string;
  readonly key: string;
  /** Between two requests. */
  readonly pauseMs: number;
  readonly questions: readonly ProbeName[];
}

/** Milliseconds from sending to the last byte. */
export type ProbeTimes = Record<ProbeName, number[]>;
export type ProbeName = 'health' | 'models' | 'refusedChat';

/** `refusedChat` is a chat that fails at the engine's first check: key, limits, body, template and tokens are done, no token is sampled. */
const QUESTIONS: readonly { name: ProbeName; method: string; path: string; status: number; body?: string }[] = [
  { name: 'health', method: 'GET', path: '/v1/health', status: 200 },
  { name: 'models', method: 'GET', path: '/v1/models', status: 200 },
  {
    name: 'refusedChat',
    method: 'POST',
    path: '/v1/chat/completions',
    status: 400,
    body: JSON.stringify({
      messages: [{ role: 'user', content: 'Is two more than one?' }],
      max_tokens: 4,
      logit_bias: { 999999: 1 },
    }),
  },
];

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function ask({ url, key }: ProbeStart, { method, path, status, body }: (typeof QUESTIONS)[number]): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const call = request(`${url}${path}`, { method, agent, headers }, (response) => {
      response.resume();
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === status) resolve(performance.now() - startMs);
        else reject(new Error(`${path} answered ${response.statusCode}`));
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}

async function measure(start: ProbeStart): Promise<void> {
  const times: ProbeTimes = { health: [], models: [], refusedChat: [] };
  const asked = QUESTIONS.filter(({ name }) => start.questions.includes(name));
  let stopped = false;
  process.on('message', () => (stopped = true));
  while (!stopped) {
    for (const question of asked) times[question.name].push(await ask(start, question));
    await delay(start.pauseMs);
  }
  process.send!(times, () => process.exit(0));
}

process.once('message', (start) => void measure(start as ProbeStart));
