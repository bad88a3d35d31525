import { createLog } from '@taskmesh/service';
import { createSubgraphServer, type Subgraph } from '@taskmesh/internal-api';
import { stripVTControlCharacters } from 'node:util';
import { createGraph } from '../federated-graph.ts';
import type { CaseResult } from '../public-suite.ts';
import { sendQueryTo } from './client.ts';
import { loadSubgraphs, type LoadedSubgraph } from './load-subgraphs.ts';
import { loadTests, type Test } from './load-tests.ts';

const GATEWAY = { role: 'service', name: 'gateway' } as const;

/**
 * Runs Apollo's audit of subgraph libraries. Our library serves its schemas and resolvers: products over HTTP, and all three
 * services behind the compiled executor, which replaces the router. The suite's unmodified tests call these two.
 */
export async function runSubgraphCompatibility(dir: string): Promise<CaseResult[]> {
  const loaded = await loadSubgraphs(dir);
  const products = serve(loaded.products.subgraph);
  const ask = createGraph(Object.values(loaded).map(serviceOf));
  await products.start();
  sendQueryTo(
    async (request, headers) => {
      const response = await fetch(`${products.address()}/graphql`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      });
      return response.json();
    },
    async ({ query, variables }) => {
      const { data, errors } = await ask(query, variables);
      return { data, ...(errors.length > 0 && { errors }) };
    },
  );
  try {
    const results: CaseResult[] = [];
    for (const test of await loadTests(dir)) results.push({ name: test.name, problem: await problemOf(test) });
    return results;
  } finally {
    await products.stop();
  }
}

function serviceOf({ subgraph, typeDefs }: LoadedSubgraph) {
  const respond = (query: string, variables: Record<string, unknown>) =>
    subgraph.execute({ query, variables }, { identity: GATEWAY, requestId: 'audit' });
  return { name: subgraph.name, typeDefs, respond };
}

/** Accepts every request as the gateway's, because the suite's tests send no tokens. */
function serve(subgraph: Subgraph) {
  const log = createLog({ service: 'audit', level: 'fatal' });
  return createSubgraphServer({ subgraph, host: '127.0.0.1', port: 0, authenticate: async () => GATEWAY, log });
}

async function problemOf({ run }: Test): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return stripVTControlCharacters(Error.isError(error) ? error.message : String(error));
  }
}
