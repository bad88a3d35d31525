import { CALL, documentsOfClients } from '../../tests/fakes/executor.ts';
import { type AdmissionDeps, createAdmission } from './admission.ts';

it('the cost of a large document with numbers is computed in the queue of its network', async () => {
  const turns: string[] = [];
  const { admit } = createAdmission({
    config: { maxTokens: 4_000, maxCost: 5_000 },
    graph: { current: { admitKnown: documentsOfClients().admit } },
    trusted: { byHash: () => undefined, check: () => undefined },
    blockingWork: { run: async (network: string, work: () => unknown) => (turns.push(network), work()) },
    metrics: { refused: () => undefined },
  } as unknown as AdmissionDeps); // all that it uses
  const listOf = (fields: number) =>
    `query ($n: Int) { tasks(first: $n) { edges { node { ${'id '.repeat(fields)} ${'owner { id } '.repeat(fields)} } } } }`;
  const costs: number[] = [];
  for (const [fields, variables] of [
    [1, { n: 2 }],
    [60, {}],
    [60, { n: 2 }],
    [60, { n: 3 }],
  ] as const)
    costs.push(
      (await admit({ query: listOf(fields), variables }, { isGet: false, canStream: false, caller: CALL })).cost,
    );
  expect([costs[2], costs[3], turns]).toEqual([1 + 2 * 62, 1 + 3 * 62, [CALL.ip, CALL.ip]]);
});
