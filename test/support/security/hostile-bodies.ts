// Request bodies of any permitted size and odd shape, as text, with which one client could block a server: chats,
// trajectories, jobs that imitate, artifact manifests. This file does not know how the server answers them.

/** Just below the default limit of a server. */
export const BYTES_MAX = 15_500_000;

const fill = (unit: string, bytes: number) => unit.repeat(Math.max(1, Math.floor(bytes / unit.length)));
const list = (unit: string, bytes: number) => `[${fill(`${unit},`, bytes)}${unit}]`;
const says = (content: string) => `[{"role":"user","content":${content}}]`;
const f = (parameters: string) => `{"type":"function","function":{"name":"f","parameters":${parameters}}}`;

/** The maximum number in a request or a trajectory. */
const MESSAGES_MAX = 2_000;
const TOOLS_CHARACTERS = 2_000 * f('{}').length;
const fortyTurns = list('{"role":"user","content":"a"},{"role":"assistant","content":"b"}', 19 * 64);

/** Chat bodies by their oddity; each makes a body of about so many bytes. */
export function hostileShapes(model: string): Readonly<Record<string, (bytes: number) => string>> {
  const body = (messages: string, more = '') => `{"model":"${model}","max_tokens":1,"messages":${messages}${more}}`;
  const field = (name: string, value: string) => body(says('"Hi"'), `,"${name}":${value}`);
  return {
    'a long name of a model': (bytes) => `{"model":"a${fill('/:', bytes)}","messages":${says('"Hi"')}}`,
    'a number that is none': (bytes) => field('temperature', `"${fill('1', bytes)}x"`),
    'a long seed': (bytes) => field('seed', `"${fill('1', bytes)}"`),
    'an unterminated string of escapes': (bytes) => `{"a":NaN,"b":1234567890123456,"c":"${fill('\\"', bytes)}`,
    'an unterminated list': (bytes) => `{"a":NaN,"b":${fill('[0],', bytes)}`,
    'text beside NaN and long integers': (bytes) =>
      field('x', `"${fill('a ', bytes)}","temperature":NaN,"n":12345678901234567890`),
    'messages that are numbers': (bytes) => body(list('0', bytes)),
    'messages that are objects': (bytes) => body(list('{}', bytes)),
    'short messages': (bytes) => body(list('{"role":"user","content":"a"}', bytes)),
    'long text': (bytes) => body(says(`"${fill('hello world ', bytes)}"`)),
    'long text without spaces': (bytes) => body(says(`"${fill('x', bytes)}"`)),
    'long text, of which the end is kept': (bytes) =>
      body(says(`"${fill('hello ', Math.min(bytes, 100_000))}"`), ',"truncate_prompt_tokens":8'),
    'many parts': (bytes) => body(says(list('"a"', bytes))),
    'parts that are numbers': (bytes) => body(says(list('0', bytes))),
    'fields that a template gets': (bytes) => body(`[{"role":"user","content":"Hi","x":${list('{}', bytes)}}]`),
    'bad words': (bytes) => field('bad_words', list(`"${fill('bad ', Math.min(bytes / 128, 25_000))}"`, bytes)),
    'short bad words': (bytes) => field('bad_words', list(`"${fill('bad ', 250)}"`, Math.min(bytes, 30_000))),
    'biases of no number': (bytes) =>
      field('logit_bias', `{${Array.from({ length: bytes / 12 }, (_, i) => `"${i}":"x"`).join(',')}}`),
    'as many messages as are read': (bytes) =>
      body(list('{"role":"user","content":"a"}', Math.min(bytes, MESSAGES_MAX * 30 - 30))),
    'as many tools as are read, over forty turns': (bytes) =>
      body(fortyTurns, `,"tools":${list(f('{}'), Math.min(bytes, TOOLS_CHARACTERS))}`),
    'many tools': (bytes) => field('tools', list(f('{"type":"object","properties":{"a":{"type":"integer"}}}'), bytes)),
    'one large tool': (bytes) => field('tools', list(f(`{"x":${list('{"a":[0]}', bytes)}}`), 1)),
    'long arguments': (bytes) =>
      body(
        `[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":${JSON.stringify(list('{}', Math.min(bytes, 2e6)))}}}]}]`,
      ),
    'long integers beside many short ones': (bytes) =>
      field(
        'x',
        `[${fill('12345678901234567890,', Math.min(bytes, 200_000))}${fill('0,', Math.min(bytes, 470_000))}0]`,
      ),
    'more long integers than are read': (bytes) => field('x', list('12345678901234567890', Math.min(bytes, 5_000_000))),
    'many choices': (bytes) => field('structured_outputs', `{"choice":${list('"abc"', bytes)}}`),
  };
}

const turn = '{"role":"user","content":"a"}';
const token = '{"token":"token_id:5","logprob":-0.123456,"bytes":[104,101],"top_logprobs":[]}';

/** Bodies of a training job or a log; each makes a body of about so many bytes. */
export function hostileTrainingShapes(modelId: string): Readonly<Record<string, (bytes: number) => string>> {
  const groups = (list: string, more = '') =>
    `{"model_id":"${modelId}","split":"x","trajectory_groups":${list}${more}}`;
  const trajectories = (list: string) => groups(`[{"trajectories":${list}}]`);
  const turns = (list: string, more = '') => trajectories(`[{"messages_and_choices":${list}${more},"reward":1}]`);
  const sampled = (ids: string) => turns(`[{"message":{"content":"a"},${ids}}]`);
  return {
    'unknown fields': (bytes) => groups('[]', `,"x":${list('0', bytes)}`),
    'groups that are numbers': (bytes) => groups(list('0', bytes)),
    'empty groups': (bytes) => groups(list('{"trajectories":[]}', bytes)),
    'as many groups as are read': (bytes) => groups(list('{"trajectories":[]}', Math.min(bytes, 1_600_000))),
    'trajectories that are numbers': (bytes) => trajectories(list('0', bytes)),
    'trajectories that are objects': (bytes) => trajectories(list('{}', bytes)),
    'short trajectories': (bytes) =>
      trajectories(list(`{"messages_and_choices":[${turn}],"reward":1,"metrics":{"a":1}}`, bytes)),
    'as many trajectories as are read': (bytes) =>
      trajectories(list('{"messages_and_choices":[],"metrics":{"a":1}}', Math.min(bytes, 2_200_000))),
    'turns that are objects': (bytes) => turns(list('{}', bytes)),
    'half a million turns that are numbers': (bytes) => turns(list('0', Math.min(bytes, 1_000_000))),
    'histories with turns': (bytes) =>
      turns('[]', `,"additional_histories":${list(`{"messages_and_choices":${list(turn, 30_000)}}`, bytes)}`),
    'fields of a message': (bytes) => turns(`[{"role":"user","content":"a","x":${list('{}', bytes)}}]`),
    'keys of a message': (bytes) =>
      turns(
        `[{"role":"user","content":"a","x":[${Array.from({ length: bytes / 14 }, (_, i) => `{"a${i}":1}`).join(',')}]}]`,
      ),
    'colons after a key': (bytes) => turns(`[{"role"${fill(' ', bytes / 2)}${fill(':', bytes / 2)}1}]`),
    'as many turns as are read': (bytes) =>
      turns(
        '[]',
        `,"additional_histories":${list(`{"messages_and_choices":${list(turn, 30_000)}}`, Math.min(bytes, 960_000))}`,
      ),
    'as many parts as are read': (bytes) =>
      turns(`[{"role":"user","content":${list('"a"', Math.min(bytes, 390_000))}}]`),
    'numbers that are none': (bytes) =>
      turns(`[{"role":"user","content":"a","x":${list('NaN', Math.min(bytes, 5_900_000))}}]`),
    'tools of a trajectory': (bytes) => turns(`[${turn}]`, `,"tools":${list(f('{}'), bytes)}`),
    'as many tools as are read, over forty turns': (bytes) =>
      turns(fortyTurns, `,"tools":${list(f('{}'), Math.min(bytes, TOOLS_CHARACTERS))}`),
    'ids of tokens': (bytes) => sampled(`"token_ids":${list('123', bytes)}`),
    'log-probabilities': (bytes) => sampled(`"logprobs":{"content":${list(token, Math.min(bytes, 9_500_000))}}`),
    'more log-probabilities than are read': (bytes) => sampled(`"logprobs":{"content":${list(token, bytes)}}`),
  };
}

/** Lines of an SFT or DPO job. */
export function hostileSftShapes(modelId: string): Readonly<Record<string, (bytes: number) => string>> {
  const job = (more: string) => `{"model_id":"${modelId}","training_data_url":"artifact:///default/p/none:v0"${more}}`;
  const keys = (bytes: number) => Array.from({ length: bytes / 12 }, (_, i) => `"a${i}":1`).join(',');
  return {
    'as many learning rates as are read': (bytes) =>
      job(`,"config":{"learning_rate":${list('0.1', Math.min(bytes, 990_000))}}`),
    'more learning rates than are read': (bytes) => job(`,"config":{"learning_rate":${list('0.1', bytes)}}`),
    'learning rates that are none': (bytes) =>
      job(`,"config":{"learning_rate":${list('"x"', Math.min(bytes, 990_000))}}`),
    'a long learning rate': (bytes) => job(`,"config":{"learning_rate":"${fill('1', bytes)}"}`),
    'as many unknown settings as are read': (bytes) =>
      job(`,"experimental_config":{${keys(Math.min(bytes, 590_000))}}`),
    'more unknown settings than are read': (bytes) =>
      job(`,"experimental_config":{${keys(Math.min(bytes, 2_900_000))}}`),
    'a long name': (bytes) => job(`,"training_folder_url":"${fill('a/', bytes)}"`),
    'a name of slashes': (bytes) => `{"model_id":"${modelId}","training_data_url":"artifact:///${fill('/', bytes)}"}`,
  };
}

/** Manifests of an artifact version; `sha256` of bytes that exist. */
export function hostileManifests(sha256: string): Readonly<Record<string, (bytes: number) => string>> {
  const file = (path: string, hash: string) => `{"path":"${path}","sha256":"${hash}"}`;
  const manifest = (files: readonly string[], more = '') => `{"type":"dataset","files":[${files.join(',')}]${more}}`;
  const one = file('a', sha256);
  const FILES_MAX = 10_000;
  const each = <T>(bytes: number, make: (i: number) => T): T[] =>
    Array.from({ length: Math.max(1, Math.min(FILES_MAX, Math.floor(bytes / 100))) }, (_, i) => make(i));
  const hashOf = (i: number) => i.toString(16).padStart(64, '0');
  const deep = (bytes: number) => `${fill('{"a":', bytes / 2)}1${fill('}', bytes / 12)}`;
  return {
    'files of distinct paths': (bytes) => manifest(each(bytes, (i) => file(`d/${i}`, sha256))),
    'files that are not there': (bytes) => manifest(each(bytes, (i) => file(`d/${i}`, hashOf(i)))),
    'files of one path': (bytes) => manifest(each(bytes, () => one)),
    'files of long paths': (bytes) =>
      manifest(each(bytes, (i) => file(`${fill('d/', Math.min(1_000, bytes / FILES_MAX))}${i}`, sha256))),
    'files of no path': (bytes) => manifest(each(bytes, () => file('../x', 'none'))),
    'files that are objects': (bytes) => manifest([fill('{},', bytes) + '{}']),
    'files that are numbers': (bytes) => manifest([fill('0,', bytes) + '0']),
    'one path of slashes': (bytes) => manifest([file(fill('/', bytes), sha256)]),
    'a long hash': (bytes) => manifest([file('a', fill('0', bytes))]),
    'metadata of lists': (bytes) => manifest([one], `,"metadata":{"x":${list('[0]', Math.min(bytes, 490_000))}}`),
    'metadata of long integers': (bytes) =>
      manifest([one], `,"metadata":{"x":${list('12345678901234567890', Math.min(bytes, 200_000))}}`),
    'deep metadata': (bytes) => manifest([one], `,"metadata":{"x":${deep(bytes)}}`),
    aliases: (bytes) => manifest([one], `,"aliases":${list('"a"', bytes)}`),
  };
}
