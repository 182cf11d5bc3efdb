// Opens the server's port, and says what to do if that fails. The port is tried before models are loaded, which may take minutes.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#domain/errors';
import type { ServerConfig } from '#config/server-config';

type Address = ServerConfig['listen'];

/** Throws if the server could not listen there now. */
export async function tryPort(address: Address): Promise<void> {
  const probe = createServer().listen(address);
  await once(probe, 'listening').catch(refuse(address));
  await new Promise((resolve) => probe.close(resolve));
}

/** Returns the URL. */
export const listen = (app: FastifyInstance, address: Address): Promise<string> =>
  app.listen({ ...address }).catch(refuse(address)); // Fastify writes into its options

const refuse =
  ({ host, port }: Address) =>
  (error: NodeJS.ErrnoException): never => {
    const { code } = error;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error;
    const why = {
      EADDRINUSE: 'is in use by another program',
      EACCES: 'may be used only by a user with more rights',
      EADDRNOTAVAIL: 'is not an address of this machine',
    }[code];
    throw new AppError('invalid_request', `${host}:${port} ${why}. Choose another with --host or --port.`, {
      cause: error,
    });
  };
