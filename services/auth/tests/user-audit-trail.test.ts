import { codeOf, LOGIN, LOGOUT, loggedIn, signedUp, type OpenSession } from './support/operations.ts';
import { runAuth, type RunningAuth } from './support/running-auth.ts';

const TRAIL =
  'query ($first: Int, $after: ID) { auditEntries(first: $first, after: $after) { id at kind sessionId ip } }';

let running: RunningAuth;
beforeAll(async () => {
  running = await runAuth();
});
afterAll(() => running.stop());

const trailOf = async ({ identity }: OpenSession, variables: object = {}) =>
  (await running.send(TRAIL, variables, identity)).data?.['auditEntries'] as { id: string; kind: string }[];

describe("one's own audit trail", () => {
  it('tells what happened, newest first, page by page, and nothing about anybody else', async () => {
    const ada = await signedUp(running, 'ada@example.com');
    const second = await loggedIn(running, 'ada@example.com');
    const bob = await signedUp(running, 'bob@example.com');
    await running.send(LOGIN, { input: { email: 'ada@example.com', password: 'wrong' } });
    await running.send(LOGOUT, {}, second.identity);
    const entries = await trailOf(ada);
    const times = { id: expect.stringMatching(/^\d+$/), at: expect.stringMatching(/Z$/), ip: '192.0.2.1' };
    expect(entries).toEqual([
      { ...times, kind: 'session.ended', sessionId: second.sessionId },
      { ...times, kind: 'login.failed', sessionId: null },
      { ...times, kind: 'session.opened', sessionId: second.sessionId },
      { ...times, kind: 'account.created', sessionId: ada.sessionId },
    ]);
    const pages = [await trailOf(ada, { first: 3 }), await trailOf(ada, { first: 3, after: entries[2]?.id })];
    expect(pages.flat()).toEqual(entries);
    expect(await trailOf(ada, { after: entries.at(-1)?.id })).toEqual([]);
    expect((await trailOf(bob)).map(({ kind }) => kind)).toEqual(['account.created']);
    // Another user's entry only marks a position.
    expect(await trailOf(bob, { after: entries.at(-1)?.id })).toEqual([]);
  });

  it.each([{ first: 0 }, { first: -1 }, { first: 1_001 }, { after: 'x' }, { after: '' }, { after: '9'.repeat(30) }])(
    'refuses %j',
    async (variables) => {
      const somebody = await signedUp(running, `${JSON.stringify(variables).replaceAll(/\W/g, '')}@example.com`);
      expect(codeOf(await running.send(TRAIL, variables, somebody.identity))).toBe('BAD_USER_INPUT');
    },
  );

  it('is for users', async () => {
    expect(codeOf(await running.send(TRAIL))).toBe('UNAUTHENTICATED');
  });
});
