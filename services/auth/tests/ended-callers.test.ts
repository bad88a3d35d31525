import { whileLocked } from '@taskmesh/testing';
import type { Identity } from '@taskmesh/identity';
import { Kind } from 'graphql';
import { randomUUID } from 'node:crypto';
import { readTypeDefs } from '@taskmesh/internal-api';
import type { Auth } from '../src/index.ts';
import { hashOf } from '../src/opaque-token.ts';
import { PASSWORD, tokenIn, useAuth } from './support/running-auth.ts';
import {
  CHANGE_EMAIL,
  CHANGE_NAME,
  CHANGE_PASSWORD,
  codeOf,
  CONFIRM_EMAIL,
  CREATE_TOKEN,
  DELETE_ACCOUNT,
  END_OTHERS,
  END_SESSION,
  END_TOKEN,
  LOGOUT,
  type OpenSession,
} from './support/operations.ts';
import { LINK_IDENTITY, UNLINK_IDENTITY, VERIFIER } from './support/provider-sign-in.ts';

const DAY_MS = 86_400_000;

const running = useAuth();

/** An account with two sessions, and one of each thing that can be changed. */
interface Person {
  /** The session that ends. */
  session: OpenSession;
  /** The session that stays. */
  other: OpenSession;
  tokenId: string;
  linkedId: string;
  /** The code of a sign-in through a provider. */
  code: string;
  /** The token from the mail to a new address. */
  emailToken: string;
}

let people = 0;
async function somebody(): Promise<Person> {
  const email = `person.${++people}@example.com`;
  const newEmail = `new.${email}`;
  const [session, other] = [await running.signUp(email), await running.logIn(email)];
  const { userId } = other;
  const [linkedId, code] = [randomUUID(), `code ${people}`];
  await running.database.query(
    `insert into linked_identities (id, account_id, issuer, subject, email, created_at, last_used_at)
     values ($1, $2, 'https://login.example', $3, $4, now(), now())`,
    [linkedId, userId, `linked ${people}`, email],
  );
  await running.database.query(
    `insert into sign_in_codes (hash, challenge, issuer, subject, email, email_verified, created_at, expires_at)
     values ($1, $2, 'https://login.example', $3, $4, true, now(), now() + interval '10 minutes')`,
    [hashOf(code), hashOf(VERIFIER), `new ${people}`, email],
  );
  const { tokenId } = await newToken(other);
  await running.send(CHANGE_EMAIL, { input: { email: newEmail, password: PASSWORD } }, other.identity);
  await running.auth.processAll();
  const emailToken = tokenIn(running.postbox.mails.findLast(({ to }) => to === newEmail)?.text);
  return { session, other, tokenId, linkedId, code, emailToken };
}

async function newToken(owner: OpenSession): Promise<{ tokenId: string; identity: Identity }> {
  const { data } = await running.send(CREATE_TOKEN, tokenInput(), owner.identity);
  const { personalToken } = data?.createPersonalToken as { personalToken: { id: string } };
  const { userId } = owner;
  const identity: Identity = { role: 'user', userId, sessionId: personalToken.id, scope: 'write', ip: '192.0.2.1' };
  return { tokenId: personalToken.id, identity };
}

const tokenInput = () => ({
  input: { name: 'program', scope: 'WRITE', expiresAt: new Date(running.clock.now() + DAY_MS).toISOString() },
});

/** Every mutation that requires a session, by name. */
const CHANGES: Record<string, (person: Person) => [operation: string, variables: object]> = {
  logout: () => [LOGOUT, {}],
  endSession: ({ other }) => [END_SESSION, { id: other.sessionId }],
  endOtherSessions: () => [END_OTHERS, {}],
  changeName: () => [CHANGE_NAME, { name: 'Another' }],
  changePassword: () => [CHANGE_PASSWORD, { input: { currentPassword: PASSWORD, newPassword: 'another horse' } }],
  requestEmailChange: () => [CHANGE_EMAIL, { input: { email: 'else@example.com', password: PASSWORD } }],
  confirmEmailChange: ({ emailToken }) => [CONFIRM_EMAIL, { token: emailToken }],
  createPersonalToken: () => [CREATE_TOKEN, tokenInput()],
  endPersonalToken: ({ tokenId }) => [END_TOKEN, { id: tokenId }],
  linkIdentity: ({ code }) => [LINK_IDENTITY, { input: { code, verifier: VERIFIER, password: PASSWORD } }],
  unlinkIdentity: ({ linkedId }) => [UNLINK_IDENTITY, { id: linkedId }],
  deleteAccount: () => [DELETE_ACCOUNT, { input: { password: PASSWORD } }],
};
const NAMES = Object.keys(CHANGES);
/** Mutations that require no session. */
const FOR_ANYBODY = ['login', 'refreshSession', 'requestPasswordReset', 'resetPassword', 'signInWithCode', 'signUp'];

const change = (name: string, person: Person, { identity }: { identity: Identity } = person.session) => {
  const [operation, variables] = CHANGES[name]?.(person) ?? [name, {}];
  return running.send(operation, variables, identity);
};

const CHANGED = [
  ...['accounts', 'sessions', 'ended_sessions', 'personal_tokens', 'linked_identities', 'sign_in_codes'],
  ...['account_mails', 'email_tokens'],
];
const STORED = CHANGED.map((table) => `select '${table}' as table, to_json(t)::text as row from ${table} t`);
/** All rows that these mutations can change. */
const stored = async (ask = running.database.query): Promise<unknown> =>
  ask(`${STORED.join(' union all ')} order by 1, 2`);

/** Runs `work` behind a transaction that ends the caller's session or token. Returns the stored rows just before it commits. */
async function behind(
  held: [text: string, ...values: unknown[]],
  work: () => Promise<unknown>,
  waiting = 1,
): Promise<unknown> {
  let before: unknown;
  await whileLocked(running.database, held, work, {
    waiting,
    meanwhile: async (holder) => {
      before = await stored(async (text) => (await holder.query<Record<string, unknown>>(text)).rows);
    },
  });
  return before;
}

it('these tests cover every mutation that requires a session', () => {
  const types = readTypeDefs(`${import.meta.dirname}/../src`).definitions.filter(
    (definition) => definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.OBJECT_TYPE_EXTENSION,
  );
  const fields = types.flatMap(({ name, fields: own = [] }) => (name.value === 'Mutation' ? own : []));
  expect(fields.map(({ name }) => name.value).toSorted()).toEqual([...NAMES, ...FOR_ANYBODY].toSorted());
});

describe('an ended session that gateways do not know of yet', () => {
  it.each(NAMES)('changes nothing with %s, even if it ends concurrently; an active one does', async (name) => {
    const person = await somebody();
    const ending = 'update sessions set ended_at = now() where id = $1';
    let code: unknown;
    const before = await behind([ending, person.session.sessionId], async () => {
      code = codeOf(await change(name, person));
    });
    expect(code).toBe('UNAUTHENTICATED');
    expect(await stored()).toEqual(before);
    expect(codeOf(await change(name, person, person.other))).toBeUndefined();
  });

  it('changes nothing later in the operation that ended it', async () => {
    const { session, other } = await somebody();
    const both = 'mutation ($id: ID!) { endSession(id: $id) endOtherSessions }';
    const { errors = [] } = await running.send(both, { id: session.sessionId }, session.identity);
    expect(errors.map(({ extensions }) => extensions?.code)).toEqual(['UNAUTHENTICATED']);
    expect(codeOf(await running.refresh(other.refreshToken))).toBeUndefined();
  });
});

describe('a personal token', () => {
  it('can change the name while it is active, and nothing if it ends concurrently', async () => {
    const person = await somebody();
    const { tokenId, identity } = await newToken(person.other);
    expect(codeOf(await change('changeName', person, { identity }))).toBeUndefined();
    let code: unknown;
    const before = await behind(['delete from personal_tokens where id = $1', tokenId], async () => {
      code = codeOf(await change('changeName', person, { identity }));
    });
    expect(code).toBe('UNAUTHENTICATED');
    expect(await stored()).toEqual(before);
  });

  it('of one account is rejected for another account', async () => {
    const [person, stranger] = [await somebody(), await somebody()];
    const { tokenId } = await newToken(person.other);
    const forged: Identity = { role: 'user', userId: stranger.other.userId, sessionId: tokenId, scope: 'write' };
    expect(codeOf(await change('changeName', stranger, { identity: forged }))).toBe('UNAUTHENTICATED');
  });
});

/** Uses two instances, because within one instance the second session would wait before it reaches the store. */
describe('two sessions that end each other concurrently through two instances', () => {
  let another: Auth;
  beforeEach(async () => {
    another = await running.another();
  });

  it.each([
    ['one by one', END_SESSION, END_SESSION],
    ['with all others', END_OTHERS, END_OTHERS],
    ['each in its way', END_SESSION, END_OTHERS],
  ])('(%s): the first one stays, and the second one gets UNAUTHENTICATED', async (_how, first, second) => {
    const { session, other } = await somebody();
    const codes: unknown[] = [];
    const end = async (
      { subgraph }: Auth,
      query: string,
      { identity }: OpenSession,
      { sessionId: id }: OpenSession,
    ) => {
      const variables = query === END_SESSION ? { id } : {};
      codes.push(codeOf(await subgraph.execute({ query, variables }, { identity, requestId: 'request-1' })));
    };
    const locking = 'select 1 from sessions where account_id = $1 for update';
    const both = () => Promise.all([end(running.auth, first, session, other), end(another, second, other, session)]);
    await behind([locking, session.userId], both, 2);
    expect(codes.toSorted()).toEqual(['UNAUTHENTICATED', undefined]);
    const living = 'select 1 from sessions where account_id = $1 and ended_at is null';
    expect(await running.database.query(living, [session.userId])).toHaveLength(1);
  });
});
