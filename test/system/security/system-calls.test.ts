// A server opens no connection and writes no file that it was not told to. Traced from outside, by system call: libraries that
// report usage do so in their own threads, some seconds after they were loaded.
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { skipWithout } from '../../support/skipping.ts';
import { readTrace, startTracedServer, type TracedServer } from './traced-server.ts';

const BASE = 'whetstone/starter';
const IDLE_MS = 30_000;
const JOB_MS_MAX = 120_000;

const server = await startTracedServer();

test(
  'an idle server and a job look up no name, connect to no other machine, and write only to allowed paths',
  { timeout: IDLE_MS + JOB_MS_MAX, ...skipWithout('STRACE', server !== null) },
  async () => {
    const { dataDirectory, temporaryDirectory } = server!;
    try {
      await wait(IDLE_MS);
      await trainOnce(server!);
      const { lookups, addresses, made } = await server!.stop();
      expect(lookups).toEqual([]);
      expect(addresses).toEqual([]);
      expect(made.length).toBeGreaterThan(10);
      const allowed = [`${dataDirectory}/`, `${temporaryDirectory}/whetstone-`];
      expect(made.filter((path) => path !== dataDirectory && !allowed.some((place) => path.startsWith(place)))).toEqual(
        [],
      );
    } finally {
      await server!.remove();
    }
  },
);

test('a lookup, an unexpected address and an unexpected file are found in a trace', () => {
  const trace = [
    '12 openat(AT_FDCWD</w>, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 24</etc/hosts>',
    '12 connect(24<UNIX-STREAM:[1]>, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT (No such file)',
    '12 connect(24<UDP:[2]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16 <unfinished ...>',
    '13 <... connect resumed>)             = 0',
    '13 bind(30<TCP:[3]>, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
    '13 connect(30<TCP:[3]>, {sa_family=AF_INET6, sin6_port=htons(443), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr)}, 28) = 0',
    '13 openat(24</tmp/.ses>, "device", O_WRONLY|O_CREAT, 0600) = 25</tmp/.ses/device>',
    '13 mkdir("made", 0700) = 0',
    '13 mkdir("there", 0700) = -1 EEXIST (File exists)',
    '13 rename("/w/old", "/w/new") = 0',
  ].join('\n');
  const { lookups, addresses, made } = readTrace(trace, '/w');
  expect(lookups.length).toBe(3);
  expect(addresses).toEqual([expect.stringContaining('2001:db8::1')]);
  expect(made).toEqual(['/tmp/.ses/device', '/w/made', '/w/new']);
});

async function trainOnce({ client }: TracedServer): Promise<void> {
  const model = await client.registerModel({ project: 'traced', name: 'model', base_model: BASE });
  const messages = [{ role: 'user', content: 'What is 23 + 14?' }];
  const sampling = { n: 4, temperature: 1, seed: 1, max_tokens: 8, logprobs: true };
  const { choices } = await client.chat({ model: BASE, messages, ...sampling });
  const trajectories = choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i % 2 }));
  const { id } = await client.submitTrainingJob({ model_id: model.id, trajectory_groups: [{ trajectories }] });
  await client.follow(id, { deadlineMs: JOB_MS_MAX });
}
