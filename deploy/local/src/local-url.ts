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
