import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';

// Hive's gateway for Node with the planner of its router, as its documentation has it, from a folder that is none of ours.
interface Runtime {
  createGatewayRuntime(options: object): RequestListener;
}
interface RouterRuntime {
  unifiedGraphHandler: unknown;
}

const resolveFrom = createRequire(pathToFileURL(`${process.env.PACKAGES ?? ''}/package.json`)).resolve;
const load = async (name: string): Promise<unknown> => import(pathToFileURL(resolveFrom(name)).href);

const { createGatewayRuntime } = (await load('@graphql-hive/gateway-runtime')) as Runtime; // what its types say
const { unifiedGraphHandler } = (await load('@graphql-hive/router-runtime')) as RouterRuntime; // as above
const gateway = createGatewayRuntime({
  supergraph: readFileSync(process.env.SUPERGRAPH_FILE ?? '', 'utf8'),
  unifiedGraphHandler,
  logging: 'warn',
  propagateHeaders: {
    fromClientToSubgraphs: ({ request }: { request: Request }) => ({
      authorization: request.headers.get('authorization') ?? '',
    }),
  },
});
const server = createServer(gateway);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // it listens on TCP
  process.send?.({ url: `http://127.0.0.1:${port}/graphql` });
});
process.once('disconnect', () => process.exit(0));
