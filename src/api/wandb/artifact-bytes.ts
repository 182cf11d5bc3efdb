// The content behind signed links: uploaded files of an artifact, files to download, and the file lists of both.
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { MANIFEST_BYTES_MAX, writeClientManifest } from '#services/artifacts/client-manifest';
import type { ApiServices } from '../http/api-services.ts';
import { declaredBytes } from '../http/declared-bytes.ts';
import { readLink } from './file-link.ts';

interface Sent {
  readonly content: AsyncIterable<Uint8Array>;
  readonly headers: IncomingHttpHeaders;
}

export async function receiveFile(
  drafts: ApiServices['artifactDrafts'],
  caller: Caller,
  permission: string,
  { content, headers }: Sent,
): Promise<void> {
  const link = readLink(permission);
  const file = { content, declaredBytes: declaredBytes(headers) };
  if (link?.kind === 'put') return drafts.receive(caller, link.id, link.md5, file);
  if (link?.kind !== 'put_manifest') throw new AppError('link_refused', 'This link is not for sending a file.');
  await drafts.receiveManifest(caller, link.id, { ...file, content: upTo(content, MANIFEST_BYTES_MAX) });
}

async function* upTo(content: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > bytesMax) throw new AppError('body_too_large', `A list of files has at most ${bytesMax} bytes.`);
    yield chunk;
  }
}

export async function sendFile(
  artifacts: ApiServices['artifacts'],
  caller: Caller,
  permission: string,
): Promise<{ content: AsyncIterable<Uint8Array> | readonly Buffer[]; sizeBytes: number }> {
  const link = readLink(permission);
  if (link?.kind !== 'get' && link?.kind !== 'get_manifest')
    throw new AppError('link_refused', 'This link is not for reading a file.');
  const found = await artifacts.look(caller, { id: link.id });
  if (!found) throw new AppError('artifact_not_found', 'This artifact was deleted.');
  if (link.kind === 'get') {
    const { file, content } = await found.open(link.path);
    return { content, sizeBytes: file.sizeBytes };
  }
  const manifest = Buffer.from(await writeClientManifest(found));
  return { content: [manifest], sizeBytes: manifest.length };
}
