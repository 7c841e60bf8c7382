import { isIP, isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

/** Whether a name or address (IPv6 without brackets) means this machine alone. */
export function isLoopbackName(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

/** Whether an IP address is a loopback one, also when it is IPv4 inside IPv6 as on dual-stack sockets. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** `host` as it stands in a URL. */
export function urlHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Where other machines reach this one, for a server on all addresses; null when there is no network. */
export function outsideAddress(): string | null {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outside = all.find(({ internal, family }) => !internal && family === 'IPv4') ?? all.find(({ internal }) => !internal);
  return outside?.address ?? null;
}

/**
 * Whether a Host header names this server, which a page of a foreign domain that resolves to this machine (DNS rebinding)
 * never does. The port may be any, since a tunnel can have its own.
 * @param bound the address that the server listens on
 * @param remote whether other machines are meant to reach it: then every IP address and the machine's name are right as well
 */
export function isOwnHost(header: string | undefined, bound: string, remote: boolean): boolean {
  const name = nameOf(header);
  if (name === null) return false;
  if (isLoopbackName(name) || (name === bound && !isWildcard(bound))) return true;
  if (!remote) return false;
  const machine = hostname().toLowerCase();
  return isIP(name) !== 0 || name === machine || name === `${machine}.local`;
}

/** Whether an Origin header is the server's own, as seen by the browser that sent both headers. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined) return false;
  return origin === `http://${host}` || origin === `https://${host}`;
}

function nameOf(header: string | undefined): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::\d{1,5})?$/i.exec(header ?? '');
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null;
}
