import { pagesOf, scannedTables, schemaDifference, statementsOf } from '@taskmesh/store/testing';
import { connectClient, createTemplate, createTestDatabase } from '@taskmesh/testing';
import { createLog } from '@taskmesh/service';
import type { Client } from 'pg';
import { migrations } from '../migrations/index.ts';
import { createHash } from 'node:crypto';
import { createAuthDatabase } from '../src/database.ts';
import * as accountLog from '../src/account-log/account-log.statements.ts';
import * as accounts from '../src/accounts/account.statements.ts';
import * as audit from '../src/audit/audit.statements.ts';
import * as housekeeping from '../src/housekeeping.statements.ts';
import * as sessions from '../src/sessions/session.statements.ts';

it('the entities describe their tables as the migrations create them', async () =>
  expect(await schemaDifference(createAuthDatabase)).toBe(''));

const modules = [accountLog, accounts, audit, housekeeping, sessions];
const ONE_ROW = ['account_log_state', 'ended_session_counter'];

it('no statement planned in an empty store scans a growing table', async () => {
  const statements = [...statementsOf(...modules), ...housekeeping.EXPIRED];
  expect(statements.length).toBeGreaterThan(20);
  expect(await scannedTables(createAuthDatabase, { statements, small: ONE_ROW })).toEqual({});
});

// The server takes the number of rows from the last analysis. If it is 0, reading all rows seems as cheap as looking up one.
describe('when the tables were empty at their last analysis', () => {
  const ACCOUNT = `md5('account ' || n % 2000)::uuid`;
  const FILL = `
    insert into accounts (id, email, email_key, name, password_hash, email_confirmed_at, created_at, updated_at)
      select ${ACCOUNT}, n, n, '', '', now(), now(), now() from generate_series(1, 2000) n;
    insert into sessions (id, account_id, created_at, tokens_until, expires_at)
      select md5('session ' || n)::uuid, ${ACCOUNT}, now(), now(), now() + interval '1 day' from generate_series(1, 40000) n;
    insert into personal_tokens (id, account_id, name, scope, hash, created_at, expires_at)
      select md5('token ' || n)::uuid, ${ACCOUNT}, '', 'read', n, now(), now() + interval '1 day' from generate_series(1, 40000) n;
    insert into ended_sessions select n, gen_random_uuid(), now() - interval '1 day' from generate_series(1, 150000) n;
    update ended_session_counter set last = 150000;
    insert into account_log select n, gen_random_uuid(), 'DELETED', now() - interval '1 day' from generate_series(1, 20000) n;
    insert into account_log select n, ${ACCOUNT}, 'DELETED', now() from generate_series(20001, 20100) n;
    insert into audit_log (at, kind, account_id, request_id)
      select now(), '', case when n <= 100 then ${ACCOUNT} else gen_random_uuid() end, '' from generate_series(1, 40000) n`;
  const EMPTY = `
    set taskmesh.audit_housekeeping = on;
    delete from accounts; delete from ended_sessions; delete from account_log; delete from audit_log; analyze`;
  const uuids = (what: string) => `{${Array.from({ length: 1_000 }, (_, n) => `${what} ${n + 1}`).map(uuidOf)}}`;
  const TIMES = `{${Array.from({ length: 1_000 }, () => new Date(Date.now() + 300_000).toISOString())}}`;
  const [NOW, YESTERDAY, TOMORROW] = [0, -3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms));
  const GIVEN = [uuidOf('account 7'), null, NOW, NOW, NOW, true, null, 'request'];
  const NEW_SESSION = [uuidOf('new'), GIVEN[0], NOW, NOW, NOW, null, null, null, '', '', null, null, null, 1, 1_000];
  let client: Client;

  beforeAll(async () => {
    const log = createLog({ service: 'auth', level: 'silent' });
    const template = await createTemplate('auth', migrations, (url) => createAuthDatabase({ url, log }));
    const { url } = await createTestDatabase('was_empty', undefined, template);
    client = await connectClient(url, `set enable_seqscan = off; set statement_timeout = '1 s'`);
    const filler = await connectClient(url);
    await filler.query(FILL);
    await filler.query(EMPTY);
    // Otherwise the statements meet the deleted rows, too, while another test's transaction is open.
    await filler.query('vacuum (truncate off)');
    await filler.query(FILL);
    await client.query('set taskmesh.audit_housekeeping = on');
  });

  it.each<[string, unknown[], number]>([
    ...housekeeping.EXPIRED.map(({ text }): [string, unknown[], number] => [text, [NOW], 1_000]),
    [housekeeping.ENTRIES_OF_DELETED, [YESTERDAY, TOMORROW], 100],
    [sessions.NOTE_SESSION_USES.text, [uuids('session'), TIMES], 1_000],
    [sessions.NOTE_TOKEN_USES.text, [uuids('token'), TIMES], 1_000],
    [sessions.END_SESSION, [...GIVEN, uuidOf('session 7')], 1],
    [sessions.END_OLDEST_SESSIONS, [...GIVEN, 5], 20],
    [sessions.END_ALL_SESSIONS, GIVEN, 20],
    [sessions.OPEN_SESSION.text, NEW_SESSION, 20],
    [sessions.OWN_SESSIONS.text, [GIVEN[0], NOW, null], 20],
    [sessions.END_TOKENS, [...GIVEN, null], 20],
    [accounts.FIND_TOKEN.text, ['7', NOW], 1],
    [accounts.TOKENS_OF_ACCOUNT.text, [GIVEN[0], NOW], 20],
  ])('reads few pages for each row: %s', async (text, values, rows) => {
    let count = 0;
    const statement = { name: '', text: text.replaceAll('?', () => `$${++count}`) };
    await client.query('begin');
    const pages = await pagesOf(client, statement, values).finally(() => client.query('rollback'));
    expect(pages).toBeLessThan(30 * rows + 100);
  });
});

function uuidOf(what: string): string {
  return createHash('md5')
    .update(what)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
