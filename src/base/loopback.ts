// Names and addresses of the machine itself.

/** Also mapped to IPv6, in dots as sockets write it or in two groups as URLs do. */
const LOOPBACK_V4 = /^(?:(?:::ffff:)?127(?:\.\d{1,3}){3}|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})$/;

/** A name, or an address as sockets and URLs give it. `localhost` is what resolvers must not send elsewhere (RFC 6761 §6.3). */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$|\.$/g, '');
  return /(?:^|\.)localhost$/.test(name) || name === '::1' || LOOPBACK_V4.test(name);
}
