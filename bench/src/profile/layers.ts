/** What a package or folder does for a request, coarsely. */
const LAYERS: [layer: string, parts: RegExp][] = [
  ['HTTP: Node, Fastify', /^(node http|fastify|find-my-way|@fastify\/|secure-json-parse|undici)/],
  [
    'gateway: routes, validation, token',
    /^(services\/gateway\/(?!graph$)|libs\/(validation|identity|errors)|zod|jose)/,
  ],
  ['Apollo Server', /^@apollo\/(server|utils)/],
  [
    'plan execution',
    /^(@apollo\/(gateway|query-planner|federation-internals)|services\/gateway\/graph$|libs\/federation)/,
  ],
  ['GraphQL: graphql-js, planned execution', /^(graphql|libs\/subgraph\/execution)$/],
  [
    'service: use case, change log, relay',
    /^(services\/(tasks|auth|backup)|libs\/(subgraph|messaging|events|key-value)|uuid|bench)/,
  ],
  ['driver', /^(pg|pg-[a-z]+|libs\/database|@mikro-orm\/.*|postgres-.*)$/],
  ['metrics, traces, logs', /^(prom-client|@opentelemetry\/|pino|libs\/service)/],
  ['writes to sockets, on the clock', /^\(socket writes\)$/],
  ['garbage collector', /^\(garbage/],
];

/** Shares by layer, in the order of the layers; what belongs to none is Node's own. */
export function byLayer(byPart: readonly [part: string, share: number][]): [layer: string, share: number][] {
  const layers = new Map<string, number>([...LAYERS.map(([layer]) => [layer, 0] as const), ['Node itself', 0]]);
  for (const [part, share] of byPart) {
    const [layer] = LAYERS.find(([, parts]) => parts.test(part)) ?? ['Node itself'];
    layers.set(layer, (layers.get(layer) ?? 0) + share);
  }
  return [...layers].filter(([, share]) => share > 0);
}
