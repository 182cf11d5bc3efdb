// The Python client against the hostile server of hostile-server.ts: each attack ends the call with one of the client's errors. Needs the
// interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { ATTACKS, openHostileServer, VERBS } from '../../support/clients/hostile-server.ts';

const PYTHON = fileURLToPath(new URL('../../../python/', import.meta.url));
const ERRORS = /^(?:ApiError|AnswerError|ArtifactFilesError|TrainingFailedError|\w*Timeout|RemoteProtocolError)$/;
/** The deadline of a download is a day. */
const TRIED = ATTACKS.filter(({ verb, isSlow }) => !(verb === 'pull' && isSlow));

interface Ended {
  readonly kind: string | null;
  readonly said: string;
  readonly files: readonly string[];
}

const needsPython = { timeout: 300_000, ...skipWithoutPython('WHETSTONE_CLIENTS_PYTHON') };

test('each attack ends the call of the Python client, and writes no file', needsPython, async () => {
  const server = await openHostileServer();
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-hostile-'));
  try {
    const calls = [
      ...VERBS.map((verb) => ({ url: server.url(null), verb, isSlow: false })),
      ...TRIED.map((attack) => ({ url: server.url(attack), verb: attack.verb, isSlow: attack.isSlow ?? false })),
    ];
    const env = { ...process.env, PYTHONPATH: `${PYTHON}whetstone-client/src` };
    const args = [`${PYTHON}clients/check_hostile.py`, JSON.stringify(calls), scratch];
    const lines = (await runPython(process.env['WHETSTONE_CLIENTS_PYTHON']!, args, { env })).trim().split('\n');
    const ended = lines.map((line) => JSON.parse(line) as Ended);
    expect(ended.slice(0, VERBS.length).map(({ kind, said }) => [kind, said])).toEqual(VERBS.map(() => [null, '']));
    for (const [i, attack] of TRIED.entries()) {
      const { kind, said, files } = ended[VERBS.length + i]!;
      expect(kind, `${attack.name}: ${said}`).toMatch(ERRORS);
      expect(said, attack.name).toMatch(attack.said);
      expect(files, attack.name).toEqual([]);
    }
    expect(server.taken).toEqual([]);
  } finally {
    server.close();
    await rm(scratch, { recursive: true });
  }
});
