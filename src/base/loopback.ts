// Names and addresses of the machine itself.

/** Including addresses mapped to IPv6, with dots as sockets write them or in two groups as URLs do. */
const LOOPBACK_V4 = /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})$/;

/** A host name, or an address as sockets and URLs give it. Resolvers must map `localhost` to loopback (RFC 6761 §6.3). */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$|\.$/g, '');
  return /(?:^|\.)localhost$/.test(name) || name === '::1' || LOOPBACK_V4.test(name);
}
