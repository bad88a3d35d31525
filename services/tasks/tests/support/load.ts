import { type GraphqlResult, codeOf, type TestUser } from './running-tasks.ts';

const CREATE = 'mutation ($title: String!) { createTask(input: { title: $title }) { id } }';
const READ = '{ tasks(first: 5) { totalCount changesCursor edges { node { id } } } taskStatistics { total } }';
const UPDATE = 'mutation ($id: ID!) { updateTask(id: $id, input: { completed: true }) { id } }';

/** Runs readers and writers until stopped, and collects the acknowledged tasks. */
export function underLoad(users: TestUser[], { updates = false } = {}) {
  const codes = new Set<unknown>();
  const acknowledged: { owner: string; id: string }[] = [];
  let [going, rounds] = [true, 0];
  const work = users.map(async (user) => {
    const send = async (query: string, variables?: Record<string, unknown>): Promise<GraphqlResult> => {
      const result = await user.send(query, variables);
      codes.add(codeOf(result));
      return result.data;
    };
    for (; going; rounds++) {
      const { id } = (await send(CREATE, { title: 'under load' }))?.createTask ?? {};
      if (id) acknowledged.push({ owner: user.id, id });
      await send(READ);
      if (id && updates) await send(UPDATE, { id });
    }
  });
  return {
    acknowledged,
    /** How often each of the requests was sent. */
    rounds: () => rounds,
    async stop() {
      going = false;
      await Promise.all(work);
    },
    /** Expects that requests have failed only because the store was unavailable. */
    expectNoErrors: () =>
      expect([...codes].filter((code) => code !== undefined && code !== 'SERVICE_UNAVAILABLE')).toEqual([]),
  };
}
