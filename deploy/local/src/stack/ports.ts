import { findFreePorts, PlainError, whyPortFails } from '@taskmesh/local-servers';
import { INNER_SERVICES, ofEachService } from './inner-services.ts';
import type { StackOptions } from './stack.ts';

/** Where a service listens: for its clients, and for administrators. */
export interface PortPair {
  port: number;
  adminPort: number;
}

const ADMIN_PORT_DISTANCE = 10_000;

type PortOptions = Pick<StackOptions, 'port' | 'adminPort' | 'host' | 'adminHost' | 'gateways'>;

/** For the gateways; none when any will do. */
function wantedPorts({ port, adminPort, gateways = 1 }: PortOptions): PortPair[] {
  if (!port) return [];
  const firstAdminPort = adminPort ?? port + ADMIN_PORT_DISTANCE;
  return Array.from({ length: gateways }, (_, index) => ({ port: port + index, adminPort: firstAdminPort + index }));
}

/** @throws PlainError naming all the wanted ports on which one cannot listen */
export async function checkWantedPorts(options: PortOptions): Promise<void> {
  const { host = '127.0.0.1', adminHost = '127.0.0.1' } = options;
  const looks = wantedPorts(options).flatMap(({ port, adminPort }) => [
    portProblem('', port, host),
    portProblem('ADMIN_', adminPort, adminHost),
  ]);
  const problems = (await Promise.all(looks)).filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new PlainError(problems.join('\n'));
}

async function portProblem(prefix: '' | 'ADMIN_', port: number, host: string): Promise<string | undefined> {
  const code = await whyPortFails(port, host);
  if (code === undefined) return undefined;
  return code === 'EADDRINUSE'
    ? `Port ${port} is taken by another program: end it, or set ${prefix}PORT to another one.`
    : `Cannot listen on ${host}, port ${port} (${code}): ${prefix}HOST and ${prefix}PORT say where.`;
}

export type StackPorts = Awaited<ReturnType<typeof choosePorts>>;

/** A pair of ports for every service. To be called when the servers have theirs, so that none is handed out twice. */
export async function choosePorts(options: PortOptions) {
  const wanted = wantedPorts(options);
  const taken = wanted.flatMap(({ port, adminPort }) => [port, adminPort]);
  const free = await findFreePorts(2 * (INNER_SERVICES.length + (options.gateways ?? 1)), taken);
  const take = (): PortPair => ({ port: free.pop() ?? 0, adminPort: free.pop() ?? 0 });
  return {
    inner: ofEachService(take),
    gateways: wanted.length > 0 ? wanted : Array.from({ length: options.gateways ?? 1 }, take),
  };
}

/** An address for clients on this machine: who listens everywhere is found on the loopback interface. */
export function localUrl(host: string, port: number | string): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** Where a URL leads: without a port in it, to the one of its scheme. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
