import { listen } from '@taskmesh/testing';
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse } from 'graphql';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export type ForeignService = Awaited<ReturnType<typeof startForeignService>>;

/** The supergraph of some services. */
export function composed(services: { name: string; url: string; typeDefs: string }[]): string {
  const { supergraphSdl, errors } = composeServices(
    services.map(({ typeDefs, ...service }) => ({ ...service, typeDefs: parse(typeDefs) })),
  );
  if (!supergraphSdl) throw new Error(String(errors));
  return supergraphSdl;
}

/** A server over HTTP that gets the whole body of each request, until the end of the test or file. */
export async function startServer(answer: (body: string, response: ServerResponse, request: IncomingMessage) => void) {
  const server = createServer((request, response) => {
    void text(request).then((body) => answer(body, response, request));
  });
  const { url } = await listen(server);
  return { url: `${url}/graphql?tenant=1`, hangUp: () => server.closeAllConnections() };
}

/** An ordinary GraphQL server over HTTP. */
export async function startForeignService(typeDefs: string, resolvers: object) {
  const schema = buildSubgraphSchema([{ typeDefs: parse(typeDefs), resolvers: resolvers as never }]); // tiny resolvers without generated types
  const seen: IncomingHttpHeaders[] = [];
  let failure: number | undefined;
  const answer = async (body: string, response: ServerResponse) => {
    const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(await graphql({ schema, source: query, variableValues: variables })));
  };
  const { url } = await startServer((body, response, { headers }) => {
    seen.push(headers);
    if (failure === undefined) void answer(body, response);
    else response.writeHead(failure).end('Bad gateway');
  });
  /** Makes it respond with this status and no result; undefined: as usual. */
  const failWith = (status: number | undefined) => void (failure = status);
  return { url, seen, failWith };
}
