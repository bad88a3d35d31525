import type { Log } from '@taskmesh/service';
import { createSubgraph, type Subgraph, type SubgraphContext } from '@taskmesh/internal-api';
import { type DocumentNode, Kind, type ObjectTypeDefinitionNode, type ObjectTypeExtensionNode, parse } from 'graphql';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { InProcessServices } from '../../src/connections/in-process.ts';

export type OwnService = keyof InProcessServices;

const SERVICES = join(import.meta.dirname, '../../..');

/** All services with a part in the graph. */
export const OWN_SERVICES = globSync('*/codegen.json', { cwd: SERVICES }).map(dirname) as OwnService[];

/** A service's SDL from the repository. */
export function typeDefsOf(service: OwnService): DocumentNode {
  const folder = join(SERVICES, service, 'src');
  const files = globSync('**/*.graphql', { cwd: folder }).toSorted();
  return parse(files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'));
}

type Resolvers = Record<string, Record<string, unknown>>;

const ROOTS = new Set(['Query', 'Mutation']);

/** A service's part of the real graph with a test's resolvers. Fields without a resolver fail instead of being null. */
export function createFakeSubgraph(name: OwnService, resolvers: object, log: Log): Subgraph {
  const typeDefs = typeDefsOf(name);
  return createSubgraph({ name, typeDefs, resolvers: complete(name, typeDefs, resolvers as Resolvers), log });
}

function complete(service: string, { definitions }: DocumentNode, resolvers: Resolvers): Resolvers {
  const types = definitions.filter(
    (each): each is ObjectTypeDefinitionNode | ObjectTypeExtensionNode =>
      each.kind === Kind.OBJECT_TYPE_DEFINITION || each.kind === Kind.OBJECT_TYPE_EXTENSION,
  );
  const completed: Resolvers = Object.fromEntries(Object.entries(resolvers).map(([type, own]) => [type, { ...own }]));
  for (const { name, fields = [], directives = [] } of types) {
    const type = name.value;
    const own = (completed[type] ??= {});
    if (directives.some((each) => each.name.value === 'key'))
      own['__resolveReference'] ??= lacking(`${service} ${type}.__resolveReference`);
    for (const field of fields) {
      const what = `${service} ${type}.${field.name.value}`;
      own[field.name.value] ??= ROOTS.has(type) ? lacking(what) : ofSource(field.name.value, what);
    }
  }
  return completed;
}

const lacking = (what: string) => () => {
  throw new Error(`The fake has no ${what}.`);
};

const ofSource =
  (field: string, what: string) => (source: Record<string, unknown>, args: unknown, context: SubgraphContext) => {
    if (!(field in source)) return lacking(what)();
    const value = source[field];
    return typeof value === 'function' ? (value as (...given: unknown[]) => unknown)(args, context) : value;
  };
