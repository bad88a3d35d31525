import { whileLocked } from '@taskmesh/testing';
import type { Identity } from '@taskmesh/identity';
import { Kind } from 'graphql';
import { randomUUID } from 'node:crypto';
import { readTypeDefs } from '@taskmesh/internal-api';
import type { SubgraphResult } from '@taskmesh/subgraph';
import type { Auth } from '../src/index.ts';
import { hashOf } from '../src/opaque-token.ts';
import { PASSWORD, useAuth, type Asking } from './support/running-auth.ts';
import { codeOf, END_OTHERS, END_SESSION, tokenOf, type OpenSession } from './support/operations.ts';
import { LINK_IDENTITY, UNLINK_IDENTITY, VERIFIER } from './support/provider-sign-in.ts';

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
  const [linkedId, code] = [randomUUID(), `code ${people}`];
  await running.query(
    `insert into linked_identities (id, account_id, issuer, subject, email, created_at, last_used_at)
     values ($1, $2, 'https://login.example', $3, $4, now(), now())`,
    [linkedId, other.userId, `linked ${people}`, email],
  );
  await running.query(
    `insert into sign_in_codes (hash, challenge, issuer, subject, email, email_verified, created_at, expires_at)
     values ($1, $2, 'https://login.example', $3, $4, true, now(), now() + interval '10 minutes')`,
    [hashOf(code), hashOf(VERIFIER), `new ${people}`, email],
  );
  const { tokenId } = await newToken(other);
  await running.requestEmail(other, newEmail);
  return { session, other, tokenId, linkedId, code, emailToken: await running.tokenFor(newEmail) };
}

async function newToken(owner: OpenSession) {
  const { userId } = owner;
  const { id: tokenId } = tokenOf(await running.createToken(owner, { scope: 'WRITE' })).personalToken;
  const identity: Identity = { role: 'user', userId, sessionId: tokenId, scope: 'write', ip: '192.0.2.1' };
  return { tokenId, identity };
}

/** Every mutation that requires a session, by name. */
const CHANGES: Record<string, (who: Asking, person: Person) => Promise<SubgraphResult>> = {
  logout: ({ identity }) => running.logOut(identity),
  endSession: ({ identity }, { other }) => running.send(END_SESSION, { id: other.sessionId }, identity),
  endOtherSessions: ({ identity }) => running.send(END_OTHERS, {}, identity),
  changeName: (who) => running.changeName(who),
  changePassword: (who) => running.changePassword(who, 'another horse'),
  requestEmailChange: (who) => running.requestEmail(who, 'else@example.com'),
  confirmEmailChange: ({ identity }, { emailToken }) => running.confirmEmail(emailToken, undefined, identity),
  createPersonalToken: (who) => running.createToken(who),
  endPersonalToken: (who, { tokenId }) => running.endToken(who, tokenId),
  linkIdentity: ({ identity }, { code }) =>
    running.send(LINK_IDENTITY, { input: { code, verifier: VERIFIER, password: PASSWORD } }, identity),
  unlinkIdentity: ({ identity }, { linkedId }) => running.send(UNLINK_IDENTITY, { id: linkedId }, identity),
  deleteAccount: (who) => running.deleteAccount(who),
};
/** Mutations that require no session. */
const FOR_ANYBODY = ['login', 'refreshSession', 'requestPasswordReset', 'resetPassword', 'signInWithCode', 'signUp'];

const CHANGED = [
  ...['accounts', 'sessions', 'ended_sessions', 'personal_tokens', 'linked_identities', 'sign_in_codes'],
  ...['account_mails', 'email_tokens'],
];
const STORED = CHANGED.map((table) => `select '${table}' as table, to_json(t)::text as row from ${table} t`);
/** All rows that these mutations can change. */
const stored = async (ask = running.database.query): Promise<unknown> =>
  ask(`${STORED.join(' union all ')} order by 1, 2`);

/** Expects that the change is rejected and has no effect, behind a transaction that ends the caller's session or token. */
async function expectNone(held: [text: string, ...values: unknown[]], change: () => Promise<SubgraphResult>) {
  let before: unknown;
  const result = await whileLocked(running.database, held, change, {
    async meanwhile(holder) {
      before = await stored(async (text) => (await holder.query<Record<string, unknown>>(text)).rows);
    },
  });
  expect([codeOf(result), await stored()]).toEqual(['UNAUTHENTICATED', before]);
}

it('these tests cover every mutation that requires a session', () => {
  const types = readTypeDefs(`${import.meta.dirname}/../src`).definitions.filter(
    (definition) => definition.kind === Kind.OBJECT_TYPE_DEFINITION || definition.kind === Kind.OBJECT_TYPE_EXTENSION,
  );
  const fields = types.flatMap(({ name, fields: own = [] }) => (name.value === 'Mutation' ? own : []));
  expect(fields.map(({ name }) => name.value).toSorted()).toEqual([...Object.keys(CHANGES), ...FOR_ANYBODY].toSorted());
});

it.each(Object.entries(CHANGES))(
  'an ended session that gateways do not know of yet changes nothing with %s, even if it ends concurrently; an active one does',
  async (_name, change) => {
    const person = await somebody();
    const { session, other } = person;
    const ending = 'update sessions set ended_at = now() where id = $1';
    await expectNone([ending, session.sessionId], () => change(session, person));
    expect(codeOf(await change(other, person))).toBeUndefined();
  },
);

it('an ended session that gateways do not know of yet changes nothing later in the operation that ended it', async () => {
  const { session, other } = await somebody();
  const both = 'mutation ($id: ID!) { endSession(id: $id) endOtherSessions }';
  const { errors = [] } = await running.send(both, { id: session.sessionId }, session.identity);
  expect(errors.map(({ extensions }) => extensions?.code)).toEqual(['UNAUTHENTICATED']);
  expect(codeOf(await running.refresh(other.refreshToken))).toBeUndefined();
});

it('a personal token can change the name while it is active, and nothing if it ends concurrently', async () => {
  const { tokenId, identity } = await newToken((await somebody()).other);
  expect(codeOf(await running.changeName({ identity }))).toBeUndefined();
  await expectNone(['delete from personal_tokens where id = $1', tokenId], () => running.changeName({ identity }));
});

it('a personal token of one account is rejected for another account', async () => {
  const [person, stranger] = [await somebody(), await somebody()];
  const { tokenId } = await newToken(person.other);
  const identity: Identity = { role: 'user', userId: stranger.other.userId, sessionId: tokenId, scope: 'write' };
  expect(codeOf(await running.changeName({ identity }))).toBe('UNAUTHENTICATED');
});

// Two instances, because within one instance the second session would wait before it reaches the store.
it.each([
  ['one by one', END_SESSION, END_SESSION],
  ['with all others', END_OTHERS, END_OTHERS],
  ['each in its way', END_SESSION, END_OTHERS],
])(
  'of two sessions that end each other concurrently through two instances (%s), one stays, and the other gets UNAUTHENTICATED',
  async (_how, first, second) => {
    const { session, other } = await somebody();
    const another = await running.another();
    const end = ({ subgraph }: Auth, query: string, { identity }: OpenSession, { sessionId: id }: OpenSession) =>
      subgraph.execute({ query, variables: query === END_SESSION ? { id } : {} }, { identity, requestId: 'request-1' });
    const both = () => Promise.all([end(running.auth, first, session, other), end(another, second, other, session)]);
    const locking = 'select 1 from sessions where account_id = $1 for update';
    const results = await whileLocked(running.database, [locking, session.userId], both, { waiting: 2 });
    expect(results.map(codeOf).toSorted()).toEqual(['UNAUTHENTICATED', undefined]);
    const living = 'select 1 from sessions where account_id = $1 and ended_at is null';
    expect(await running.query(living, [session.userId])).toHaveLength(1);
  },
);
