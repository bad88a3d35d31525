import { findFreePorts, PlainError, findPortError } from '@taskmesh/local-servers';
import { INNER_SERVICES, ofEachService } from './inner-services.ts';
import type { StackOptions } from './stack.ts';

/** The ports of a service for its clients and for administrators. */
export interface PortPair {
  port: number;
  adminPort: number;
}

const ADMIN_PORT_DISTANCE = 10_000;

type PortOptions = Pick<StackOptions, 'port' | 'adminPort' | 'host' | 'adminHost' | 'gateways'>;

/** The ports that the gateways must have; empty if any free ones will do. */
function wantedPorts({ port, adminPort, gateways = 1 }: PortOptions): PortPair[] {
  if (!port) return [];
  const firstAdminPort = adminPort ?? port + ADMIN_PORT_DISTANCE;
  return Array.from({ length: gateways }, (_, index) => ({ port: port + index, adminPort: firstAdminPort + index }));
}

/** @throws PlainError that names all wanted ports on which we cannot listen */
export async function checkWantedPorts(options: PortOptions): Promise<void> {
  const { host = '127.0.0.1', adminHost = '127.0.0.1' } = options;
  const ports = wantedPorts(options).flatMap(({ port, adminPort }) => [port, adminPort]);
  const duplicate = ports.find((port, index) => ports.indexOf(port) < index);
  if (duplicate) throw new PlainError(`PORT and ADMIN_PORT both lead to port ${duplicate}: change one of them.`);
  const checks = wantedPorts(options).flatMap(({ port, adminPort }) => [
    portProblem('', port, host),
    portProblem('ADMIN_', adminPort, adminHost),
  ]);
  const problems = (await Promise.all(checks)).filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new PlainError(problems.join('\n'));
}

async function portProblem(prefix: '' | 'ADMIN_', port: number, host: string): Promise<string | undefined> {
  const code = await findPortError(port, host);
  if (code === undefined) return undefined;
  return code === 'EADDRINUSE'
    ? `Port ${port} is taken by another program: end it, or set ${prefix}PORT to another one.`
    : `Cannot listen on ${host}, port ${port} (${code}): ${prefix}HOST and ${prefix}PORT say where.`;
}

export type StackPorts = Awaited<ReturnType<typeof choosePorts>>;

/** Chooses a pair of ports for every service. Call this when the servers have their ports, so that no port is used twice. */
export async function choosePorts(options: PortOptions) {
  const wanted = wantedPorts(options);
  const reserved = wanted.flatMap(({ port, adminPort }) => [port, adminPort]);
  const free = await findFreePorts(2 * (INNER_SERVICES.length + (options.gateways ?? 1)), reserved);
  const reserve = (): PortPair => ({ port: free.pop() ?? 0, adminPort: free.pop() ?? 0 });
  return {
    inner: ofEachService(reserve),
    gateways: wanted.length > 0 ? wanted : Array.from({ length: options.gateways ?? 1 }, reserve),
  };
}

/** Returns a URL for clients on this machine: a server on all interfaces is reached through the loopback interface. */
export function localUrl(host: string, port: number | string): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Returns a URL's port, by default that of its scheme. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
