// What a signed link gives access to, as signed text: one file of an upload or version, or the file list.

export type FileLink =
  | { readonly kind: 'put'; readonly id: string; readonly md5: string }
  | { readonly kind: 'put_manifest' | 'get_manifest'; readonly id: string }
  | { readonly kind: 'get'; readonly id: string; readonly path: string };

export const putLink = (id: string, md5: string): string => JSON.stringify(['put', id, md5]);
export const putManifestLink = (id: string): string => JSON.stringify(['put_manifest', id]);
export const fileLink = (id: string, path: string): string => JSON.stringify(['get', id, path]);
export const manifestLink = (id: string): string => JSON.stringify(['get_manifest', id]);

/** Parses signed, hence intact, text. Null: it is a link to something else. */
export function readLink(permission: string): FileLink | null {
  if (!permission.startsWith('[')) return null;
  const [kind, id = '', rest = ''] = JSON.parse(permission) as string[];
  if (kind === 'put') return { kind, id, md5: rest };
  if (kind === 'get') return { kind, id, path: rest };
  return kind === 'put_manifest' || kind === 'get_manifest' ? { kind, id } : null;
}
