import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { tellAddress } from '../../processes/tell-address.ts';

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
tellAddress(createServer(gateway), '/graphql');
