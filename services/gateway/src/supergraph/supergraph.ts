import { errorMessage } from '@taskmesh/contracts/error-details';
import { readSupergraph, type PlannedGraph, withExactLiterals } from '@taskmesh/federation';
import { ConfigError } from '@taskmesh/service';
import { readFile } from 'node:fs/promises';

const COMMITTED = new URL('../../supergraph.graphql', import.meta.url);
const ADDRESS = /@join__graph\(name: "([^"]+)", url: "([^"]+)"\)/g;
/** Of a service outside. Requests would be sent without the name and password in a URL. */
const HTTP_URL = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i;
/** Bounds the planning time of extreme documents: after this many alternatives, the best plan so far is used. */
const PLANNER = { debug: { maxEvaluatedPlans: 100 } };

export interface GraphService {
  name: string;
  url: string;
  /** Our own services are called by name, never by `url`, and receive the caller's identity. */
  own: boolean;
}

/** A composed graph, ready for planning. Immutable once built. */
export interface Supergraph extends PlannedGraph {
  /** Whether it includes our own services, which provide accounts and the events for subscriptions. */
  readonly own: boolean;
  readonly sdl: string;
  readonly services: readonly GraphService[];
}

/** Builds a supergraph from its SDL. @throws when the SDL is invalid or needs an unsupported feature */
export type SupergraphBuilder = (sdl: string) => Supergraph;

/** `file` is a supergraph to serve instead of the committed one. @throws ConfigError when it cannot be used */
export async function openSupergraph(
  file: string | undefined,
): Promise<{ build: SupergraphBuilder; initial: Supergraph }> {
  const committed = await readFile(COMMITTED, 'utf8');
  // The committed file's URLs are unique placeholders, by which our services are recognized.
  const addresses = new Map([...committed.matchAll(ADDRESS)].map(([, name, url]) => [name, url]));
  const isOurs = ({ name, url }: { name: string; url: string }) => addresses.get(name) === url;
  const build: SupergraphBuilder = (text) => buildSupergraph(text, text === committed ? {} : { isOurs });
  return { build, initial: file === undefined ? build(committed) : await buildFirst(file, build) };
}

async function buildFirst(file: string, build: SupergraphBuilder): Promise<Supergraph> {
  try {
    return build(await readFile(file, 'utf8'));
  } catch (error) {
    const [reason] = errorMessage(error).split('\n', 1);
    throw new ConfigError([
      `SUPERGRAPH_FILE must name a supergraph of Federation 2 (is: ${JSON.stringify(file)}): ${reason}`,
    ]);
  }
}

/** Omit `isOurs` for the committed graph: all its services are ours, and composition has already validated it. */
export function buildSupergraph(
  sdl: string,
  { isOurs }: { isOurs?: (service: { name: string; url: string }) => boolean } = {},
): Supergraph {
  // The access directives of a foreign graph are accepted, but its services have to enforce them, as in our own
  // graph.
  const graph = readSupergraph(sdl, PLANNER, { validate: isOurs !== undefined });
  const services = graph.planner.supergraph
    .subgraphsMetadata()
    .map(({ name, url }) => ({ name, url, own: isOurs?.({ name, url }) ?? true }));
  const lost = services.find(({ url, own }) => !own && !(HTTP_URL.test(url) && URL.canParse(url)));
  if (lost) throw new Error(`The service "${lost.name}" needs an HTTP URL without a name and password.`);
  return { ...graph, schema: withExactLiterals(graph.schema), own: services.some(({ own }) => own), sdl, services };
}
