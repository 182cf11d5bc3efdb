// Names in headers. Names may have letters of any script and any sign, and Node refuses to send a header with most of them.

/** Characters beyond ASCII are percent-encoded. */
export const headerText = (name: string): string => name.replace(/[^\x21-\x7e]/gu, encodeURIComponent);

/** Content-Disposition of a file to keep, as RFC 6266 has it: old clients read the first name. */
export function attachment(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\]/gu, '_');
  const named = `attachment; filename="${plain}"`;
  if (plain === fileName) return named;
  const encoded = encodeURIComponent(fileName).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `${named}; filename*=UTF-8''${encoded}`;
}
