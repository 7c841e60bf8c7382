import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Every address of a name. */
export type ResolveAll = (hostname: string) => Promise<LookupAddress[]>;

/** An address that is not on the public internet. */
export class PrivateAddressError extends Error {
  readonly code = 'private_address';
  constructor(host: string, address: string) {
    super(host === address ? `${host} is an address of this machine or of a private network.` : `${host} leads to ${address}, an address of this machine or of a private network.`);
    this.name = 'PrivateAddressError';
  }
}

/** Public by number, but the machine's own cloud host (Azure's metadata and agent address). */
const CLOUD_HOSTS = new Set(['168.63.129.16']);

/** Whether an IP address (v4 or v6, as text) is on the public internet. IPv4 inside IPv6 counts as what it leads to. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  let ip = ipaddr.parse(address);
  if (ip instanceof ipaddr.IPv6) {
    const range = ip.range();
    // ::ffff:a.b.c.d, and the well-known prefix by which IPv6-only networks reach IPv4.
    if (range === 'ipv4Mapped') ip = ip.toIPv4Address();
    else if (range === 'rfc6052') ip = new ipaddr.IPv4(ip.toByteArray().slice(12));
  }
  return ip.range() === 'unicast' && !CLOUD_HOSTS.has(ip.toString());
}

/** The IP address that a URL's host is, without brackets; null for names. The URL parser has made one form of all spellings of an IPv4 address. */
export function addressInHost(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '');
  return ipaddr.isValid(bare) ? bare : null;
}

export const resolveAll: ResolveAll = (hostname) =>
  new Promise((resolve, reject) => systemLookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))));

/**
 * A `lookup` for connections that refuses a name when any of its addresses is private. What it answers is what is connected to, so
 * that a name cannot be public when it is looked at and private when it is used.
 */
export function guardedLookup(resolve: ResolveAll, allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (found) => {
        const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : options.family;
        const bad = allowPrivate ? undefined : found.find(({ address }) => !isPublicAddress(address));
        const usable = family === 4 || family === 6 ? found.filter((one) => one.family === family) : found;
        const [first] = usable;
        if (bad) callback(new PrivateAddressError(hostname, bad.address), '', 4);
        else if (!first) callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' }), '', 4);
        else if (options.all) callback(null, usable);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, '', 4),
    );
  };
}
