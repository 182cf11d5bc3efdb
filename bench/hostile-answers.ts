// Requests that are short and become much: lists in lists, many names for one history, sparse tensors, tiny fields, deep documents, heavy
// pages. hostile-clients.ts sends them. Test files assert what becomes of each; here they only disturb.
import { bytesOf } from '#services/tinker/protobuf/tensors';
import { createMessage } from '#services/tinker/protobuf/wire';

export interface HostileRequest {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly type?: string;
}

const graphql = (name: string, query: string): HostileRequest => ({
  name: `graphql: ${name}`,
  method: 'POST',
  path: '/graphql',
  body: JSON.stringify({ query, variables: {} }),
});

const listsIn = (levels: number): string =>
  levels === 0 ? 'id' : `artifactSequence { artifacts(first: 50) { edges { node { id ${listsIn(levels - 1)} } } } }`;

const names = (many: number, field: string) => Array.from({ length: many }, (_, i) => `a${i}: ${field}`).join(' ');

const FORWARD = '/tinker/api/v1/forward_backward';
const PROTOBUF = 'application/x-protobuf';

function sparseTensors(): Uint8Array {
  const empty = createMessage()
    .bytes(2, bytesOf(BigInt64Array.of(0n, 0n)))
    .done();
  const tensor = createMessage().message(2, empty).integer(3, 1).integers(4, [1, 8_000_000]).done();
  const request = createMessage().text(1, 'none:train:0').integer(2, 1).text(4, 'cross_entropy');
  for (let i = 0; i < 150; i++) {
    const entry = createMessage().text(1, `nonsense-${i}`).message(2, tensor).done();
    request.message(3, createMessage().message(2, entry).done());
  }
  return request.done();
}

const tinker = (name: string, body: Uint8Array): HostileRequest => ({
  name: `tinker: ${name}`,
  method: 'POST',
  path: FORWARD,
  body,
  type: PROTOBUF,
});

export const hostileAnswers = (): readonly HostileRequest[] => [
  graphql('lists in lists', `{ project(name: "hostile") { artifact(name: "rows") { ${listsIn(4)} } } }`),
  graphql('many histories', `{ project(name: "hostile") { run(name: "r") { ${names(40, 'history')} } } }`),
  graphql('many samples', `{ project(name: "hostile") { run(name: "r") { ${names(40, 'sampledHistory(specs: [])')} } } }`),
  graphql('many pages of files', `{ project(name: "hostile") { artifact(name: "rows") { ${names(40, 'files { edges { node { id } } }')} } } }`),
  graphql('deep values', `{ project(name: ${'['.repeat(3_000)}`),
  graphql('deep objects', `{ a ${'{ a '.repeat(2_000)}`),
  tinker('sparse tensors', sparseTensors()),
  tinker('tiny fields', new Uint8Array(15_000_000).fill(0x48)),
  tinker('tiny fields in a datum', createMessage().message(3, new Uint8Array(15_000_000).fill(0x48)).done()),
  tinker('a shape of a million dimensions', createMessage().message(3, createMessage().message(4, new Uint8Array(1_000_000).fill(1)).done()).done()),
  { name: 'pages of artifacts', method: 'GET', path: '/v1/artifacts?limit=100' },
  { name: 'pages of runs', method: 'GET', path: '/v1/runs?limit=100' },
]; // prettier-ignore
