import { operationFromDocument, Supergraph } from '@apollo/federation-internals';
import { buildOperationContext, executeQueryPlan, type ServiceMap } from '@apollo/gateway';
import { QueryPlanner } from '@apollo/query-planner';
import { parse } from 'graphql';
import { createFederatedExecutor, type AskSubgraph, type SubgraphAnswer } from '../src/index.ts';
import { compose, createWorld, type Call } from '../tests/world.ts';
import { OPERATIONS, SHOP, shopValue } from './shop.ts';

/**
 * Processor time for an operation, beside @apollo/gateway's executor: the same plans' answers come out of memory, as texts that
 * each has to read, and each has to write what it sends and what the client gets.
 */
const ROUNDS = 5;
const ROUND_MS = 400;

type RequestContext = Parameters<typeof executeQueryPlan>[2];

const world = createWorld(SHOP, { seed: 1, fixed: shopValue });
const supergraph = Supergraph.build(compose(SHOP));
const planner = new QueryPlanner(supergraph);
const apiSchema = supergraph.apiSchema();
const [schema, supergraphSchema] = [apiSchema.toGraphQLJSSchema(), supergraph.schema.toGraphQLJSSchema()];

/** Answers by what was asked; the first time they are made. */
const known = new Map<string, string>();
let calls = 0;
const ask: AskSubgraph<Call[]> = async (request) => {
  calls++;
  const key = request.operation.text + request.variables;
  let answer = known.get(key);
  if (answer === undefined) known.set(key, (answer = JSON.stringify(await world.ask(request, []))));
  return JSON.parse(answer) as SubgraphAnswer;
};

const executor = createFederatedExecutor(world.graph, ask);

function ours(source: string): () => Promise<string> {
  const operation = executor.compile(parse(source));
  return async () => (await operation.run({ variables: {}, context: [] })).text;
}

function stock(source: string): () => Promise<string> {
  const document = parse(source);
  const plan = planner.buildQueryPlan(operationFromDocument(apiSchema, document));
  const context = buildOperationContext({ schema, operationDocument: document });
  const services = Object.fromEntries(
    SHOP.map(({ name }) => [
      name,
      {
        process: ({ request }: { request: { query: string; variables: unknown } }) => {
          const operation = {
            service: name,
            kind: 'query',
            text: request.query,
            quotedText: '',
            name: undefined,
          } as const;
          return ask({ operation, variables: JSON.stringify(request.variables) }, []);
        },
      },
    ]),
  ) as unknown as ServiceMap; // all that the executor asks of one
  return async () => {
    const request = { request: { variables: {} }, metrics: {}, logger: console } as unknown as RequestContext; // as above
    const { data } = await executeQueryPlan(plan, services, request, context, supergraphSchema, apiSchema);
    return JSON.stringify(data);
  };
}

/** Milliseconds of the processor for one run. */
async function measure(run: () => Promise<string>): Promise<number> {
  const end = performance.now() + ROUND_MS;
  const before = process.cpuUsage();
  let runs = 0;
  while (performance.now() < end) {
    for (let index = 0; index < 10; index++) await run();
    runs += 10;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / runs;
}

const median = (values: number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

for (const [name, source] of Object.entries(OPERATIONS)) {
  const contenders = [ours(source), stock(source)];
  const [text, expected] = await Promise.all(contenders.map((run) => run()));
  if (text !== expected) throw new Error(`The executors disagree on ${name}.`);
  const asked = [];
  const times: number[][] = [[], []];
  for (const run of contenders) {
    calls = 0;
    await run();
    asked.push(calls);
  }
  for (let round = 0; round <= ROUNDS; round++)
    for (const [index, run] of contenders.entries()) {
      const time = await measure(run);
      if (round > 0) times[index]?.push(time); // the first one warms up
    }
  const [mine, theirs] = times.map(median);
  const ratio = ((theirs ?? 0) / (mine ?? 1)).toFixed(1);
  console.log(
    `${name}: ${String(mine?.toFixed(3))} ms, @apollo/gateway ${String(theirs?.toFixed(3))} ms: ${ratio} times as fast ` +
      `(${String(text?.length)} characters; calls: ${asked.join(' and ')})`,
  );
}
