import { CHANGE_EMAIL, CHANGE_NAME, CHANGE_PASSWORD, type OpenSession } from './support/operations.ts';
import { PASSWORD, textOfStore, useAuth } from './support/running-auth.ts';

const running = useAuth();

describe('the audit trail', () => {
  it('lists every change to an account in order, with IP and request; no table has usable secrets', async () => {
    const email = 'ada@example.com';
    const first = await running.signUp(email);
    await running.tryLogIn(email, 'not the one');
    const second = await running.logIn(email);
    await running.logOut(second.identity);
    const { data } = await running.refresh(first.refreshToken);
    await running.refresh(first.refreshToken);
    const password = 'another horse battery';
    const token = await running.mailedToken(email);
    const stored = [await textOfStore(running)];
    await running.resetPassword(token, password);
    const own = await running.logIn(email, password);
    const { identity, sessionId } = own;
    stored.push(await textOfStore(running));
    await running.send(CHANGE_PASSWORD, { input: { currentPassword: password, newPassword: password } }, identity);
    await running.send(CHANGE_EMAIL, { input: { email: 'new@example.com', password } }, identity);
    await running.send(CHANGE_NAME, { name: 'Another' }, identity);

    const rows = await running.database.query('select * from audit_log where account_id = $1 order by id', [
      first.userId,
    ]);
    expect(rows.map(({ kind, session_id }) => [kind, session_id])).toEqual([
      ['account.created', first.sessionId],
      ['login.failed', null],
      ['session.opened', second.sessionId],
      ['session.ended', second.sessionId],
      ['session.refreshed', first.sessionId],
      ['session.refresh_token_reused', first.sessionId],
      ['recovery.requested', null],
      ['recovery.mail_sent', null],
      ['password.reset', null],
      ...['session.opened', 'password.changed', 'email.change_requested', 'name.changed'].map((kind) => [
        kind,
        sessionId,
      ]),
    ]);
    for (const row of rows)
      expect(row).toMatchObject({ ip: '192.0.2.1', request_id: 'request-1', at: expect.any(Date) });
    const text = JSON.stringify(rows);
    const secrets = [PASSWORD, password, 'not the one', token, own.accessToken, own.refreshToken];
    for (const secret of [email, first.refreshToken, JSON.stringify(data), ...secrets])
      expect(text).not.toContain(secret);
    for (const secret of secrets) expect(stored.join()).not.toContain(secret);
  });

  it.each([`update audit_log set kind = 'nothing'`, 'delete from audit_log', 'truncate audit_log'])(
    'rejects changes: %s',
    async (statement) => {
      const count = () => running.database.query('select count(*) from audit_log');
      const before = await count();
      await expect(running.database.query(statement)).rejects.toThrow('the audit trail only grows');
      expect(await count()).toEqual(before);
    },
  );
});

describe("the caller's own audit trail", () => {
  const TRAIL =
    'query ($first: Int, $after: ID) { auditEntries(first: $first, after: $after) { id at kind sessionId ip } }';
  const trailOf = async ({ identity }: OpenSession, variables: object = {}) =>
    (await running.send(TRAIL, variables, identity)).data?.['auditEntries'] as { id: string; kind: string }[];

  it('lists entries, newest first, in pages, and none of other accounts', async () => {
    const eve = await running.signUp('eve@example.com');
    const second = await running.logIn('eve@example.com');
    const bob = await running.signUp('bob@example.com');
    await running.tryLogIn('eve@example.com', 'wrong');
    await running.logOut(second.identity);
    const entries = await trailOf(eve);
    const times = { id: expect.stringMatching(/^\d+$/), at: expect.stringMatching(/Z$/), ip: '192.0.2.1' };
    expect(entries).toEqual([
      { ...times, kind: 'session.ended', sessionId: second.sessionId },
      { ...times, kind: 'login.failed', sessionId: null },
      { ...times, kind: 'session.opened', sessionId: second.sessionId },
      { ...times, kind: 'account.created', sessionId: eve.sessionId },
    ]);
    const pages = [await trailOf(eve, { first: 3 }), await trailOf(eve, { first: 3, after: entries[2]?.id })];
    expect(pages.flat()).toEqual(entries);
    expect(await trailOf(eve, { after: entries.at(-1)?.id })).toEqual([]);
    expect((await trailOf(bob)).map(({ kind }) => kind)).toEqual(['account.created']);
    // Another user's entry only marks a position.
    expect(await trailOf(bob, { after: entries.at(-1)?.id })).toEqual([]);
  });
});
