// Runs of an agent, recorded as episodes: with tools, a retry, a subagent, a judge, and an answer that the client cut off. Two of a
// group are rewarded and trained.
import type { Client, Model } from '../../../src/client/client.ts';

export interface AgentRuns {
  /** Ids by name. */
  readonly episodes: Readonly<Record<string, string>>;
  readonly jobId: string;
}

const TOOLS = ['read_file', 'run_tests'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: `Does ${name}.`,
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
  },
}));

interface Message {
  readonly role: string;
  readonly content: string | null;
}

export async function runAgents(url: string, apiKey: string, client: Client, model: Model): Promise<AgentRuns> {
  const name = `${model.entity}/${model.project}/${model.name}`;
  const post = (episode: string, body: object, more: object = {}, signal?: AbortSignal) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        ...{ 'x-whetstone-episode': episode, 'x-whetstone-group': 'fix-the-bug', ...more },
      },
      body: JSON.stringify({ model: name, max_tokens: 8, temperature: 1, ...body }),
      ...(signal ? { signal } : {}),
    });
  async function ask(episode: string, body: object, more: object = {}): Promise<Message> {
    const response = await post(episode, body, more);
    if (!response.ok) throw new Error(await response.text());
    return ((await response.json()) as { choices: { message: Message }[] }).choices[0]!.message;
  }

  async function run(episode: string, seed: number): Promise<void> {
    const messages: Message[] = [
      { role: 'system', content: 'You mend programs.' },
      { role: 'user', content: 'The parser fails on <b>empty</b> input.' },
    ];
    for (let turn = 0; turn < 4; turn++) {
      const answer = await ask(episode, { messages, tools: TOOLS, seed: seed + turn });
      if (turn === 1) await ask(episode, { messages, tools: TOOLS, seed: seed + 90 }); // a retry
      messages.push(answer, { role: 'user', content: `Result ${turn}: 3 tests fail.` });
    }
    await ask(episode, { messages: [{ role: 'user', content: 'List the files of the zebra module.' }], n: 2, seed });
    const judged = [{ role: 'user', content: 'Is it mended?' }];
    await ask(episode, { messages: judged, seed }, { 'x-whetstone-train': 'false' });
  }

  await run('attempt-1', 100);
  await run('attempt-2', 200);
  const stop = new AbortController();
  const cut = await post(
    'attempt-2',
    { messages: [{ role: 'user', content: 'Write on.' }], max_tokens: 400, min_tokens: 400, stream: true },
    {},
    stop.signal,
  );
  await cut.body!.getReader().read();
  stop.abort();
  await client.createEpisode({ model_id: model.id, name: 'attempt-3', group: 'other', metadata: { seed: 3 } });
  await untilCut(client);
  await client.rewardEpisode('attempt-1', {
    reward: 1,
    metrics: { tests_passed: 3 },
    metadata: { author: '<i>me</i>' },
  });
  await client.rewardEpisode('attempt-2', { reward: 0.25 });
  const { id: jobId } = await client.train({ model_id: model.id, episode_groups: [['attempt-1', 'attempt-2']] });
  const episodes: Record<string, string> = {};
  for await (const episode of client.listEpisodes({ model_id: model.id })) episodes[episode.name] = episode.id;
  return { episodes, jobId };
}

const CALLS_OF_A_RUN = 7;

/** The server notices that the client has left. */
async function untilCut(client: Client): Promise<void> {
  for (let left = 200; left > 0; left--) {
    let calls = 0;
    for await (const call of client.listEpisodeCalls('attempt-2')) calls += call.cut ? 100 : 1;
    if (calls === 100 + CALLS_OF_A_RUN) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('The call that was cut off is not in its episode.');
}
