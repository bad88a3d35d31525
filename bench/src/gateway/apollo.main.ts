import { ApolloGateway, RemoteGraphQLDataSource, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { reportUrl } from '../machine/child.ts';

// Apollo Server with @apollo/gateway as in their documentation, or (FETCH_BY=undici) with another HTTP client for the services.
// Passes the client's authorization to the services, which would need it.
type Context = { authorization?: string | undefined };

const supergraphSdl = readFileSync(process.env.SUPERGRAPH_FILE ?? '', 'utf8');
const gateway = new ApolloGateway({
  supergraphSdl,
  buildService: ({ url = '' }) => (process.env.FETCH_BY === 'undici' ? byUndici(url) : stock(url)),
});
const server = new ApolloServer<Context>({ gateway });
const { url } = await startStandaloneServer(server, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async ({ req }) => ({ authorization: req.headers.authorization }),
});
reportUrl(url);

function stock(url: string): GraphQLDataSource {
  return new RemoteGraphQLDataSource<Context>({
    url,
    willSendRequest({ request, context }) {
      if (context.authorization !== undefined) request.http?.headers.set('authorization', context.authorization);
    },
  });
}

function byUndici(url: string): GraphQLDataSource<Context> {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: 256 });
  return {
    async process({ request: { query, variables, operationName }, context: { authorization = '' } }) {
      const headers = { 'content-type': 'application/json', authorization };
      const body = JSON.stringify({ query, variables, operationName });
      const response = await pool.request({ method: 'POST', path, headers, body });
      return (await response.body.json()) as Awaited<ReturnType<GraphQLDataSource['process']>>; // a service's response
    },
  };
}
