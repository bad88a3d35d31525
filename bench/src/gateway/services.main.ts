import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../machine/child.ts';
import { respond, serviceSchemas } from './shop.ts';

// All services of the shop, each at its path. Gateways send the same requests again and again, and each is executed once,
// so that services take little of the machine. Any message asks how many requests came so far.
const schemas = serviceSchemas();
const responses = new Map<string, Promise<string>>();
let requests = 0;

const server = createServer(async (request, response) => {
  requests++;
  const body = await text(request);
  const key = `${request.url} ${body}`;
  const known = responses.get(key) ?? execute(request.url ?? '', body);
  responses.set(key, known);
  try {
    const json = await known;
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) })
      .end(json);
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
server.keepAliveTimeout = 600_000;
process.on('message', () => process.send?.({ requests }));
listen(server);

async function execute(path: string, body: string): Promise<string> {
  const schema = schemas.get(path.slice(1));
  if (!schema) throw new Error(`There is no service at ${path}.`);
  const { query, variables } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
  return respond(schema, query, variables ?? {});
}
