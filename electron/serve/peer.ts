import { readFile } from 'node:fs/promises';
import { isIPv4, type Socket } from 'node:net';
import { isLoopbackAddress } from './hosts.ts';

/** Whether the other end of a connection is on this machine. */
export function isSameMachine({ remoteAddress, localAddress }: Pick<Socket, 'remoteAddress' | 'localAddress'>): boolean {
  return remoteAddress !== undefined && (isLoopbackAddress(remoteAddress) || remoteAddress === localAddress);
}

/**
 * Whether the other end of a local connection belongs to the user who runs this process, or to root. On Linux the kernel's
 * connection table tells (proc(5), /proc/net/tcp: the row of the other end, `uid` in its eighth column); elsewhere there is
 * no such table, and the answer is yes for this machine.
 */
export async function isSameUser(socket: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>): Promise<boolean> {
  if (!isSameMachine(socket)) return false;
  if (process.platform !== 'linux' || !process.getuid) return true;
  const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = socket;
  const theirs = ends(remoteAddress, remotePort).flatMap((from) => ends(localAddress, localPort).map((to) => `${from} ${to}`));
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const line of text.split('\n')) {
      const columns = line.trim().split(/\s+/);
      if (theirs.includes(`${columns[1]} ${columns[2]}`)) {
        const uid = Number(columns[7]);
        return uid === 0 || uid === process.getuid();
      }
    }
  }
  return false;
}

/** How the tables may write an address: 32-bit words in the machine's byte order, IPv4 also as mapped IPv6. */
function ends(address: string, port: number): string[] {
  const tail = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const plain = address.replace(/^::ffff:/i, '');
  if (isIPv4(plain)) {
    const word = plain.split('.').toReversed().map((part) => Number(part).toString(16).toUpperCase().padStart(2, '0')).join('');
    return [`${word}${tail}`, `0000000000000000FFFF0000${word}${tail}`];
  }
  return plain === '::1' ? [`00000000000000000000000001000000${tail}`] : [];
}
