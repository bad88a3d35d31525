import { scannedTables, schemaDifference, statementsOf } from '@taskmesh/store/testing';
import { createAuthDatabase } from '../src/database.ts';
import * as accountLog from '../src/account-log/account-log.statements.ts';
import * as accounts from '../src/accounts/account.statements.ts';
import * as audit from '../src/audit/audit.statements.ts';
import * as housekeeping from '../src/housekeeping.statements.ts';
import * as sessions from '../src/sessions/session.statements.ts';

describe('the entities', () => {
  it('describe their tables as the migrations create them', async () => {
    expect(await schemaDifference(createAuthDatabase)).toBe('');
  });
});

const modules = [accountLog, accounts, audit, housekeeping, sessions];
const ONE_ROW = ['account_log_state', 'ended_session_counter'];

it('no statement planned in an empty store scans a growing table', async () => {
  const statements = [...statementsOf(...modules), ...housekeeping.EXPIRED];
  expect(statements.length).toBeGreaterThan(20);
  expect(await scannedTables(createAuthDatabase, { statements, small: ONE_ROW })).toEqual({});
});

it('statements within transactions are valid for the schema', async () => {
  const texts = modules
    .flatMap((module) => Object.values<unknown>(module))
    .filter((value) => typeof value === 'string');
  const whole = texts.filter((text) => /^\s*(with|select|delete)\b/.test(text));
  const statements = whole.map((text) => ({ name: text, text: text.replaceAll('?', 'null') }));
  expect(statements.length).toBeGreaterThan(8);
  await scannedTables(createAuthDatabase, { statements, small: ONE_ROW });
});
