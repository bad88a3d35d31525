// Run with --expose-gc. Measures the memory that a gateway keeps after a flood of documents, and the memory that it counts.
// See memory.test.ts.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { coerceVariables, type Documents } from '@taskmesh/federation';
import { createLog } from '@taskmesh/service';
import { createResultFormat } from '../src/supergraph/client-errors.ts';
import { createLargeResponses } from '../src/supergraph/large-responses.ts';
import { createEventRenderer } from '../src/subscriptions/event-renderer.ts';
import { createStore } from './fakes/change-store.ts';
import { CALL, createTestExecutor, documentsOfClients, OWNER, supergraph } from './fakes/executor.ts';

const log = createLog({ service: 'test', level: 'silent' });
const CONDITIONS = ['a', 'b', 'c', 'd'];
const DECLARED = CONDITIONS.map((name) => `$${name}: Boolean!`).join(' ');

const TASK = `fragment T on Task { id title description priority completed category dueDate createdAt updatedAt version }`;
const USER = `fragment U on User { id name email }`;

/** `number` makes each document of a shape differ from all others. */
const SHAPES: Record<string, (number: number) => string> = {
  introspection: (number) => `query (${DECLARED}) { x${number}: __schema { types { name description
    ${CONDITIONS.map((name) => `fields @include(if: $${name}) { ${name}: description }`).join(' ')} } } }`,
  small: (number) => `{ x${number}: task(id: "1") { id title } }`,
  wide: (number) =>
    `query { ${[1, 2, 3, 4, 5, 6].map((each) => `x${number}x${each}: tasks(first: 1) { edges { node { ...T owner { ...U } } } }`).join(' ')} } ${TASK} ${USER}`,
  conditions: (number) => `query (${DECLARED}) { x${number}: tasks(first: 1) { edges { node {
    ${CONDITIONS.map((name) => `... @include(if: $${name}) { ...T owner { ...U ${name}${number}: name } }`).join(' ')} } } } } ${TASK} ${USER}`,
  'events of short fields': (number) => `subscription { x${number}: taskChanges { task { ${'id '.repeat(1_900)} } } }`,
  events: (number) => `subscription { x${number}: taskChanges { kind task { ...T } previous { ...T } } } ${TASK}`,
  'long events': (number) => `subscription { x${number}: taskChanges { task {
    ${Array.from({ length: 29 }, (_, at) => `a${at}: title`).join(' ')} } } }`,
  'events with conditions': (number) => `subscription (${DECLARED}) { x${number}: taskChanges { kind task {
    ${CONDITIONS.map((name) => `... @include(if: $${name}) { ...T owner { ...U ${name}${number}: name } }`).join(' ')} } } } ${TASK} ${USER}`,
};

const DOCUMENTS = 20;
/** Those with conditions need more memory each, and time for each combination. */
const DOCUMENTS_WITH_CONDITIONS = 6;

const nothing = async () => ({ data: null });
const services = Object.fromEntries(
  supergraph.services.map(({ name }) => [name, { execute: nothing, process: nothing }]),
);
const executor = createTestExecutor({ services });
const change = createStore().commit(OWNER);
const longChange = createStore().commit(OWNER, { title: 'x'.repeat(40_000) });

async function run({ admit, settle }: Documents, source: string, given: Record<string, boolean>): Promise<void> {
  const sent = admit(source);
  const variables = coerceVariables(sent, given);
  const operation = sent.operation.operation === 'query' ? sent : settle(sent, variables);
  if (operation.operation.operation === 'query') {
    await executor.run({ operation, variables, cost: operation.cost(variables) }, CALL);
    return;
  }
  const renderer = operation.partOf('event renderer', (onResize) =>
    createEventRenderer(
      { supergraph, services, executor, admit, admitKnown: admit, settle, parsed: () => undefined },
      operation,
      { formatResult: createResultFormat(log), largeResponses: createLargeResponses(), onResize },
    ),
  );
  const render = renderer.withVariables(variables, CALL, (work) => work());
  await render(source.includes('a28:') ? longChange : change, () => true);
}

/** Sends documents of a shape, each with this many combinations of its conditions, and at least twice. */
async function flood(sent: Documents, sourceOf: (number: number) => string, from: number, most: number): Promise<void> {
  const hasConditions = sourceOf(from).includes('Boolean!');
  const [documents, combinations] = hasConditions ? [DOCUMENTS_WITH_CONDITIONS, most] : [DOCUMENTS, 2];
  for (let number = from; number < from + documents; number++)
    for (let bits = 0; bits < combinations; bits++) {
      const given = CONDITIONS.map((name, at) => [name, (bits & (1 << at)) > 0] as const);
      await run(sent, sourceOf(number), Object.fromEntries(given));
    }
}

async function heapBytes(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await nextTurn();
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}

async function measure(shape: string, sourceOf: (number: number) => string) {
  await flood(documentsOfClients(), sourceOf, 0, 2); // creates everything that is created once for all documents
  const before = await heapBytes();
  const sent = documentsOfClients();
  await flood(sent, sourceOf, DOCUMENTS, 2 ** CONDITIONS.length);
  return { shape, keptBytes: (await heapBytes()) - before, countedBytes: sent.bytes() };
}

const kept = [];
for (const [shape, sourceOf] of Object.entries(SHAPES)) kept.push(await measure(shape, sourceOf));
process.stdout.write(JSON.stringify(kept));
