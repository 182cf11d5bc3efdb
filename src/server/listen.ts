// Opens the server's port, and says what to do if that fails.
import type { FastifyInstance } from 'fastify';
import { AppError } from '#domain/errors';
import type { ServerConfig } from '#config';

/** Returns the URL. */
export async function listen(app: FastifyInstance, { host, port }: ServerConfig['listen']): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error;
    const why = {
      EADDRINUSE: 'is in use by another program',
      EACCES: 'may be used only by a user with more rights',
      EADDRNOTAVAIL: 'is not an address of this machine',
    }[code];
    throw new AppError('invalid_request', `${host}:${port} ${why}. Choose another with --host or --port.`, {
      cause: error,
    });
  }
}
