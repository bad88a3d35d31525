import { readOtlpJson, type ReceivedSpan } from '../otlp-json.ts';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TraceCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  /** What was exported as JSON. */
  spans: ReceivedSpan[];
  /** Each export as it came. */
  exports: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
  /** What it answers from now on; it takes nothing unless that is 200. */
  answerWith(status: number): void;
  stop(): Promise<void>;
}

/** A collector of traces that keeps what it is sent. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  const exports: TraceCollector['exports'] = [];
  let status = 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      exports.push({ path: request.url ?? '', headers: request.headers, body });
      const isJson = request.headers['content-type'] === 'application/json';
      if (status === 200 && isJson) spans.push(...readOtlpJson(body.toString()));
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on a port
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    exports,
    answerWith(next) {
      status = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
