import { createLog } from '@taskmesh/service';
import { createSubgraph, type Subgraph } from '@taskmesh/internal-api';
import type { DocumentNode } from 'graphql';
import { join } from 'node:path';
import { chdir, cwd } from 'node:process';
import { pathToFileURL } from 'node:url';
import { withStandIns } from '../stand-ins.ts';
import { takeParts } from './apollo-server.ts';

const APOLLO = new URL('apollo-server.ts', import.meta.url);
const STAND_INS = {
  '@apollo/server': APOLLO,
  '@apollo/server/standalone': APOLLO,
  '@apollo/subgraph': APOLLO,
  'graphql-tag': APOLLO,
};

/** Every library implements products; we use the resolvers of Apollo's own implementation. */
const SERVICES = {
  products: 'implementations/apollo-server/index.js',
  users: 'packages/subgraphs/users/index.js',
  inventory: 'packages/subgraphs/inventory/index.js',
};
/** Contains the schema of products, which the implementation reads from its working directory. */
const START_IN = 'implementations/_template_library_';

export interface LoadedSubgraph {
  subgraph: Subgraph;
  typeDefs: DocumentNode;
}

/** Loads the suite's services, built with our library instead of Apollo's. */
export async function loadSubgraphs(dir: string): Promise<Record<keyof typeof SERVICES, LoadedSubgraph>> {
  const log = createLog({ service: 'audit', level: 'fatal' });
  const load = async (name: keyof typeof SERVICES): Promise<LoadedSubgraph> => {
    await import(pathToFileURL(join(dir, SERVICES[name])).href);
    const { typeDefs, resolvers } = takeParts();
    return { subgraph: createSubgraph({ name, typeDefs, resolvers, log }), typeDefs };
  };
  const before = cwd();
  chdir(join(dir, START_IN));
  return withStandIns(dir, STAND_INS, async () => ({
    products: await load('products'),
    users: await load('users'),
    inventory: await load('inventory'),
  })).finally(() => chdir(before));
}
