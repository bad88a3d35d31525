import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../machine/child.ts';
import { respond, serviceSchemas } from './shop.ts';

// All services of the shop, each at its own path. Gateways send the same requests again and again, and each is executed once,
// so that the services need little CPU. Any message from the parent requests the number of requests so far.
const schemas = serviceSchemas();
const responses = new Map<string, Promise<string>>();
let requests = 0;

const server = createServer((request, response) => void serve(request, response));
server.keepAliveTimeout = 600_000;
process.on('message', () => process.send?.({ requests }));
listen(server);

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  requests++;
  const body = await text(request);
  const key = `${request.url} ${body}`;
  const pending = responses.get(key) ?? execute(request.url ?? '', body);
  responses.set(key, pending);
  try {
    const json = await pending;
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
    response.writeHead(200, headers).end(json);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
}

async function execute(path: string, body: string): Promise<string> {
  const schema = schemas.get(path.slice(1));
  if (!schema) throw new Error(`There is no service at ${path}.`);
  const { query, variables } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
  return respond(schema, query, variables ?? {});
}
