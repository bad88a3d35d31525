import {
  ROUTER_SUPPORTED_SUPERGRAPH_FEATURES,
  Supergraph as FederationSupergraph,
  type Schema,
} from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import { createPlan, fieldsRequiredWithArguments, withResolvableKeys, type FederatedGraph } from '@taskmesh/federation';
import { ConfigError } from '@taskmesh/service';
import { parse } from 'graphql';
import { readFile } from 'node:fs/promises';

const COMMITTED = new URL('../../supergraph.graphql', import.meta.url);
/** A plan that needs more alternatives than this weighed is taken as good enough: bounds what one odd document costs. */
const PLANNER = { debug: { maxEvaluatedPlans: 100 } };

/** One service of a graph. */
export interface GraphService {
  name: string;
  url: string;
  /** One of ours: reached by its name, never by `url`, and told who asks. */
  own: boolean;
}

/** A composed graph, ready to plan on. Everything in it is built once and only read afterwards. */
export interface Supergraph extends FederatedGraph {
  /** Whether services of ours are in it: then there are accounts, and events feed its subscriptions. */
  readonly own: boolean;
  /** The planner's own form of `schema`. */
  readonly apiSchema: Schema;
  readonly sdl: string;
  readonly planner: QueryPlanner;
  readonly services: readonly GraphService[];
}

/** Builds supergraphs from their text. @throws when the text is none, or needs what we do not have */
export type SupergraphBuilder = (sdl: string) => Supergraph;

/** `file` is a supergraph to serve instead of the committed one. @throws ConfigError when it cannot be */
export async function openSupergraph(
  file: string | undefined,
): Promise<{ build: SupergraphBuilder; initial: Supergraph }> {
  const committed = await readFile(COMMITTED, 'utf8');
  const ours = buildSupergraph(committed);
  // The address in the committed file is a placeholder that nobody else uses: who has it is the service of that name.
  const addresses = new Map(ours.services.map(({ name, url }) => [name, url]));
  const build: SupergraphBuilder = (text) =>
    text === committed ? ours : buildSupergraph(text, { isOurs: ({ name, url }) => addresses.get(name) === url });
  return { build, initial: file === undefined ? ours : await buildFirst(file, build) };
}

async function buildFirst(file: string, build: SupergraphBuilder): Promise<Supergraph> {
  try {
    return build(await readFile(file, 'utf8'));
  } catch (error) {
    const [reason] = (Error.isError(error) ? error.message : String(error)).split('\n', 1);
    throw new ConfigError([
      `SUPERGRAPH_FILE must name a supergraph of Federation 2 (is: ${JSON.stringify(file)}): ${reason}`,
    ]);
  }
}

/** Without `isOurs` it is the committed graph: all services are ours, and it was validated when it was composed. */
export function buildSupergraph(
  sdl: string,
  { isOurs }: { isOurs?: (service: { name: string; url: string }) => boolean } = {},
): Supergraph {
  // The access directives of a foreign graph load, and stay with its services to enforce, as they do in every graph of ours.
  const document = withResolvableKeys(parse(sdl, { noLocation: true }));
  const graph = FederationSupergraph.build(document, {
    supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES,
    validateSupergraph: isOurs !== undefined,
  });
  const apiSchema = graph.apiSchema();
  const planner = new QueryPlanner(graph, PLANNER);
  const services = graph
    .subgraphsMetadata()
    .map(({ name, url }) => ({ name, url, own: isOurs?.({ name, url }) ?? true }));
  return {
    own: services.some(({ own }) => own),
    sdl,
    apiSchema,
    schema: apiSchema.toGraphQLJSSchema(),
    supergraphSchema: graph.schema.toGraphQLJSSchema(),
    requiredWithArguments: fieldsRequiredWithArguments(document),
    planner,
    plan: createPlan(document, planner, PLANNER),
    services,
  };
}
