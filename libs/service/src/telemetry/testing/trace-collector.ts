import { readOtlpJson, type ReceivedSpan } from '../otlp-json.ts';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TraceCollector {
  url: string;
  spans: ReceivedSpan[];
  exports: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
  /** The status of further answers; anything but 200 rejects the export. */
  answerWith(status: number, headers?: Record<string, string>): void;
  /** The body of further answers. */
  say(body: string | Uint8Array): void;
  stop(): Promise<void>;
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  const exports: TraceCollector['exports'] = [];
  let status = 200;
  let said: string | Uint8Array = '{}';
  let more: Record<string, string> = {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      exports.push({ path: request.url ?? '', headers: request.headers, body });
      const isJson = request.headers['content-type'] === 'application/json';
      if (status === 200 && isJson) spans.push(...readOtlpJson(body.toString()));
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    exports,
    answerWith(next, headers = {}) {
      status = next;
      more = headers;
    },
    say: (body) => void (said = body),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
