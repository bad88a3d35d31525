import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse } from 'graphql';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ForeignService {
  url: string;
  seen: IncomingHttpHeaders[];
  /** Makes it answer with this status and no result; undefined: as usual. */
  failWith(status: number | undefined): void;
  stop(): void;
}

/** The supergraph of some services. */
export function composed(services: { name: string; url: string; typeDefs: string }[]): string {
  const { supergraphSdl, errors } = composeServices(
    services.map(({ typeDefs, ...service }) => ({ ...service, typeDefs: parse(typeDefs) })),
  );
  if (!supergraphSdl) throw new Error(String(errors));
  return supergraphSdl;
}

/** An ordinary GraphQL server over HTTP. */
export async function startForeignService(typeDefs: string, resolvers: object): Promise<ForeignService> {
  const schema = buildSubgraphSchema([{ typeDefs: parse(typeDefs), resolvers: resolvers as never }]); // tiny resolvers without generated types
  const seen: IncomingHttpHeaders[] = [];
  let failure: number | undefined;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    seen.push(request.headers);
    if (failure !== undefined) return void response.writeHead(failure).end('Bad gateway');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a Buffer, as no encoding is set
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString()) as {
      query: string;
      variables: Record<string, unknown>;
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(await graphql({ schema, source: query, variableValues: variables })));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // always an AddressInfo for TCP
  return {
    url: `http://127.0.0.1:${port}/graphql?tenant=1`,
    seen,
    failWith: (status) => void (failure = status),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
