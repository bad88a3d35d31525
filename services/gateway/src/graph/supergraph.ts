import {
  ROUTER_SUPPORTED_SUPERGRAPH_FEATURES,
  Supergraph as FederationSupergraph,
  type Schema,
} from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import type { GraphQLSchema } from 'graphql';
import { readFile } from 'node:fs/promises';

const COMMITTED = new URL('../../supergraph.graphql', import.meta.url);
/** A plan that needs more alternatives than this weighed is taken as good enough: bounds what one odd document costs. */
const MAX_EVALUATED_PLANS = 100;

/** A composed graph, ready to plan on. Everything in it is built once and only read afterwards. */
export interface Supergraph {
  /** Whether this is the graph of our own services: then identities go along, and events feed its subscriptions. */
  readonly own: boolean;
  /** What clients see. */
  readonly schema: GraphQLSchema;
  /** The planner's own form of `schema`. */
  readonly apiSchema: Schema;
  /** With all that services need to tell each other. */
  readonly supergraphSchema: GraphQLSchema;
  readonly sdl: string;
  readonly planner: QueryPlanner;
  readonly services: readonly { name: string; url: string }[];
}

/** `file` is a supergraph to serve instead of the committed one. @throws when it is none, or needs what we do not have */
export async function loadSupergraph(file: string | undefined): Promise<Supergraph> {
  const committed = await readFile(COMMITTED, 'utf8');
  const sdl = file === undefined ? committed : await readFile(file, 'utf8');
  return buildSupergraph(sdl, { own: sdl === committed });
}

export function buildSupergraph(sdl: string, { own }: { own: boolean }): Supergraph {
  // The access directives of a foreign graph load, and stay with its services to enforce, as they do in every graph of ours.
  const graph = FederationSupergraph.build(sdl, {
    supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES,
    validateSupergraph: !own,
  });
  const apiSchema = graph.apiSchema();
  return {
    own,
    sdl,
    apiSchema,
    schema: apiSchema.toGraphQLJSSchema(),
    supergraphSchema: graph.schema.toGraphQLJSSchema(),
    planner: new QueryPlanner(graph, { debug: { maxEvaluatedPlans: MAX_EVALUATED_PLANS } }),
    services: graph.subgraphsMetadata(),
  };
}
