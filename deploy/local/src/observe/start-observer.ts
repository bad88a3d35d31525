import { readOtlpJson } from '@taskmesh/telemetry/otlp-json';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { PlainError } from '../plain-error.ts';
import { whyPortFails } from '../processes/free-port.ts';
import { metricsPage, notFoundPage, STYLE, tracePage, tracesPage } from './pages.ts';
import { createTraceStore } from './trace-store.ts';

const HOST = '127.0.0.1';
const SCRAPE_MS = 2_000;
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export type Observer = Awaited<ReturnType<typeof startObserver>>;

/**
 * A collector of traces with pages, for a developer's machine: it listens there only and keeps what it can in memory.
 * @throws PlainError when the port is not free
 */
export async function startObserver({ port: wanted = 0 }: { port?: number | undefined } = {}) {
  const problem = wanted && (await whyPortFails(wanted, HOST));
  if (problem) throw new PlainError(`Cannot listen on port ${wanted} (${problem}): --observe-port says where.`);
  const traces = createTraceStore();
  let adminUrls = (): Record<string, string> => ({});

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8` }).end(body);
    // A page of another host, whose name leads here, is not to read it.
    if (!/^(127\.0\.0\.1|localhost):\d+$/.test(request.headers.host ?? '')) return send(403, 'text/plain', 'Forbidden');
    if (request.method === 'POST' && path === '/v1/traces') {
      traces.add(readOtlpJson(await text(request)));
      return send(200, 'application/json', '{}');
    }
    if (request.method !== 'GET') return send(405, 'text/plain', 'Method not allowed');
    if (path === '/style.css') return send(200, 'text/css', STYLE);
    if (path === '/') return send(200, 'text/html', tracesPage(traces.all()));
    if (path === '/metrics') return send(200, 'text/html', metricsPage(await scrape(adminUrls())));
    const [, traceId = ''] = /^\/traces\/([0-9a-f]{32})$/.exec(path) ?? [];
    const trace = traces.find(traceId);
    return trace ? send(200, 'text/html', tracePage(trace)) : send(404, 'text/html', notFoundPage());
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400, HEADERS).end());
  });
  await new Promise<void>((resolve) => server.listen(wanted, HOST, resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  const url = `http://${HOST}:${port}`;
  return {
    /** The pages. */
    url,
    /** What has services send their traces here, all of them, unless they are told otherwise. */
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
    /** Whose metrics are shown: admin addresses by name, asked for at each look. */
    scrape: (urls: typeof adminUrls) => void (adminUrls = urls),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function scrape(adminUrls: Record<string, string>) {
  const metricsAt = async (url: string) =>
    (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(SCRAPE_MS) })).text();
  const look = async ([name, url]: [string, string]): Promise<[name: string, metrics: string]> => {
    return [name, await metricsAt(url).catch(() => 'It does not answer.')];
  };
  return Promise.all(Object.entries(adminUrls).map(look));
}
