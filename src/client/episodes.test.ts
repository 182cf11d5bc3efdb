import { expect, test } from 'vitest';
import { createClient } from './client.ts';

const away = (): Response =>
  new Response('{"error": {"message": "stopping"}}', { status: 503, headers: { 'retry-after': '0' } });
const made = { id: 'e', name: 'run', group: null, model_id: 'm', base_url: 'u', anthropic_base_url: 'u' };
const json = (body: object, status = 200): Response => new Response(JSON.stringify(body), { status });

/** Answers the requests in this order, and notes their bodies. */
function clientOf(answers: (() => Response)[]) {
  const asked: unknown[] = [];
  const fetch = async (_: string | URL | Request, init?: RequestInit): Promise<Response> => {
    asked.push(JSON.parse(init?.body as string));
    return answers.shift()!();
  };
  return { asked, client: createClient({ baseUrl: 'http://server', apiKey: 'k', fetch }) };
}

test('an episode is begun and rewarded once, although the server restarts meanwhile', async () => {
  const { client, asked } = clientOf([away, () => json(made), away, () => json({ ...made, reward: 1 })]);
  const episode = await client.episode({ model: 'm' });
  expect(await episode.reward(true)).toMatchObject({ reward: 1 });
  expect(asked).toEqual([asked[0], asked[0], { reward: 1 }, { reward: 1 }]);
  expect(asked[0]).toMatchObject({ name: expect.stringMatching(/^episode-[0-9a-f]{18}$/) as string });
});

test('a reward that is refused, or is no number, is not sent again', async () => {
  const refused = () => json({ error: { message: 'It was used by a training job.' } }, 409);
  const { client, asked } = clientOf([() => json(made), refused]);
  const episode = await client.episode({ model: 'm', name: 'run' });
  await expect(episode.reward(0.5)).rejects.toThrow('used by a training job');
  await expect(episode.reward(NaN)).rejects.toThrow('The reward of the episode e is NaN, which is not a number.');
  expect(asked).toEqual([{ model_id: 'm', name: 'run' }, { reward: 0.5 }]);
});
