// The common forms of an attack: one request that is sent again and again, with a body that is made once.
import { once, type Attack, type HostileClient } from './client.ts';

export const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** A chat request with these fields. */
export const chat = (name: string, make: () => object): Attack => {
  const fields = once(make);
  return { name: `fields: ${name}`, attempt: (client) => client.chat(fields()) };
};

export function post(name: string, path: string, make: (client: HostileClient) => object, clients = 1): Attack {
  let body: object | undefined;
  return { name, clients, attempt: (client) => client.post(path, (body ??= make(client))) };
}

export const get = (name: string, path: string, clients = 4): Attack => ({
  name,
  clients,
  expected: '200',
  attempt: (client) => client.send('GET', path),
});
