import { createServer, type IncomingMessage } from 'node:http';
import { tellAddress } from '../../processes/tell-address.ts';
import type { ServiceName } from '../shop/services.ts';
import { compileDocument, type Answer, type Variables } from './compile.ts';
import { RESOLVERS } from './resolvers.ts';

// All services of the shop in one process, each at its path. It is asked by any message how many requests came so far.
const answers = new Map<string, Answer>();
let requests = 0;

const server = createServer((request, response) => {
  requests++;
  readBody(request).then(
    (body) => {
      const bytes = Buffer.from(`{"data":${answer(request.url ?? '', body)}}`);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
    },
    (error: unknown) => {
      console.error(error);
      response.writeHead(500).end();
    },
  );
});
// Whoever keeps a connection may go on using it.
server.keepAliveTimeout = 600_000;

process.on('message', () => process.send?.({ requests }));
tellAddress(server);

function answer(path: string, body: string): string {
  const { query, variables } = JSON.parse(body) as { query: string; variables?: Variables | null };
  const key = `${path} ${query}`;
  let known = answers.get(key);
  if (!known) {
    const service = path.slice(1) as ServiceName; // any other has no resolvers
    answers.set(key, (known = compileDocument(query, RESOLVERS[service])));
  }
  return known(variables ?? {});
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  return Buffer.concat(chunks).toString();
}
