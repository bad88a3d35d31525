import type { Identity } from '@taskmesh/identity';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { eventually } from '@taskmesh/testing';
import { createMemoryKeyValue, type LimiterOptions } from '@taskmesh/key-value';
import { createLimits } from '../src/rate-limits.ts';
import { codeOf, outcomesOf, REQUEST_RESET, RESET } from './support/operations.ts';
import { PASSWORD, useAuth, type RunningAuth } from './support/running-auth.ts';

const from = (ip: string): Identity => ({ role: 'anonymous', ip });
const login = (running: RunningAuth, email: string, password: string, ip: string) =>
  running.tryLogIn(email, password, from(ip));

async function codesOf(count: number, work: (index: number) => Promise<SubgraphResult>): Promise<unknown[]> {
  const codes = [];
  for (let index = 0; index < count; index++) codes.push(codeOf(await work(index)) ?? 'ok');
  return codes;
}

const times = (count: number, code: string) => Array.from({ length: count }, () => code);

describe('limits per address, never multiplied', () => {
  const running = useAuth();

  const guess = (email: string, index: number) => login(running, email, 'wrong', `198.51.100.${index % 20}`);
  const guesses = (email: string) => codesOf(100, (index) => guess(email, index));

  const expectRefused = async (email: string, password: string) => {
    const refused = await login(running, email, password, '203.0.113.9');
    expect(refused.errors?.[0]?.extensions).toEqual({ code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) });
    expect(Number(refused.errors?.[0]?.extensions?.retryAfterSeconds)).toBeLessThanOrEqual(60 * 60);
  };

  it('after a hundred guesses at one address from many IPs, more are rejected from anywhere, even without an account, but none at other addresses', async () => {
    expect(await guesses('unknown@example.com')).toEqual(times(100, 'UNAUTHENTICATED'));
    await expectRefused('unknown@example.com', 'wrong');
    expect(codeOf(await login(running, 'somebody.else@example.com', 'wrong', '203.0.113.9'))).toBe('UNAUTHENTICATED');
  });

  it('after a hundred guesses at one address from many IPs, its owner gets in from networks used before, and from everywhere with a new password', async () => {
    await running.signUp('ada@example.com');
    expect(codeOf(await login(running, 'ada@example.com', PASSWORD, '2001:db8:1:2::1'))).toBeUndefined();
    await running.query(
      `insert into audit_log (at, kind, account_id, ip, request_id)
         select now(), 'session.opened', id, '192.0.2.99', 'a busy program' from accounts, generate_series(1, 100)`,
    );
    expect(await guesses('ada@example.com')).toEqual(times(100, 'UNAUTHENTICATED'));
    for (const password of ['wrong', PASSWORD]) await expectRefused('ada@example.com', password);
    expect(codeOf(await login(running, 'ada@example.com', PASSWORD, '192.0.2.1'))).toBeUndefined();
    expect(codeOf(await login(running, 'ada@example.com', PASSWORD, '2001:db8:1:2::2'))).toBeUndefined();

    await running.resetByMail('ada@example.com', 'another battery staple');
    expect(codeOf(await login(running, 'ada@example.com', 'another battery staple', '203.0.113.9'))).toBeUndefined();
  });

  it('lets the owner in after setting a new password, at the IP where the old one was tried too often', async () => {
    await running.signUp('ada@example.com');
    await codesOf(11, () => login(running, 'ada@example.com', 'forgotten', '192.0.2.7'));
    await codesOf(11, () => login(running, 'ada@example.com', 'guessed', '192.0.2.8'));

    const token = await running.mailedToken('ada@example.com');
    await running.send(RESET, { input: { token, newPassword: 'another battery staple' } }, from('192.0.2.7'));
    const loginFrom = (ip: string) => login(running, 'ada@example.com', 'another battery staple', ip);
    expect(codeOf(await loginFrom('192.0.2.7'))).toBeUndefined();
    expect(codeOf(await loginFrom('192.0.2.8'))).toBe('RATE_LIMITED');
  });

  it('evaluates no more than ten of many parallel guesses, and not the right one after them; the owner may log in at another IP', async () => {
    await running.signUp('ada@example.com');
    const guesses = [...times(110, 'a wrong guess'), PASSWORD];
    const attempts = guesses.map((guess) => login(running, 'ada@example.com', guess, '192.0.2.7'));
    expect(await outcomesOf(attempts)).toEqual({ UNAUTHENTICATED: 10, RATE_LIMITED: 101 });
    expect(codeOf(await login(running, 'ada@example.com', PASSWORD, '192.0.2.8'))).toBeUndefined();
  });

  it('counts a guess before it waits for the second hash of its rejection', async () => {
    await running.signUp('ada@example.com');
    await running.signUp('imported@example.com');
    const imported = `update accounts set password_hash = $1 where email_key = 'imported@example.com'`;
    await running.query(imported, [`$2b$12$${'x'.repeat(53)}`]);
    const logIn = (password: string) => login(running, 'ada@example.com', password, '192.0.2.7');
    let refused = 0;
    const guesses = times(10, 'a wrong guess').map((guess) => logIn(guess).finally(() => refused++));
    const others: Promise<void>[] = [];
    let isLimited = false;
    // Not one after the other: an attempt that began before the tenth failure waits for the second hash, too.
    const attempt = async () => void (isLimited ||= codeOf(await logIn(PASSWORD)) === 'RATE_LIMITED');
    await eventually(() => {
      if (!isLimited) others.push(attempt());
      expect(isLimited).toBe(true);
    });
    expect(refused).toBeLessThan(10);
    await Promise.all([...guesses, ...others]);
  });

  it('rejects more than sixty changes of a name, a password or an address, each counted separately', async () => {
    const ada = await running.signUp('ada@example.com');
    for (const change of [
      () => running.changeName(ada),
      () => running.changePassword(ada),
      () => running.requestEmail(ada, 'new@example.com'),
    ])
      expect(await codesOf(61, change)).toEqual([...times(60, 'ok'), 'RATE_LIMITED']);
  });
});

describe('limits per caller', () => {
  const running = useAuth({ env: { RATE_LIMIT_FACTOR: '0.1' } });
  const at = (user: Identity, ip: string) => ({ identity: { ...user, ip } });

  it('rejects too many logins, even successful ones, together with passwords sent for changes', async () => {
    const { identity } = await running.signUp('ada@example.com');
    const change = () => running.changePassword(at(identity, '192.0.2.7'));
    expect(await codesOf(6, change)).toEqual(times(6, 'ok'));
    const logIn = (ip: string) => login(running, 'ada@example.com', PASSWORD, ip);
    expect(await codesOf(55, () => logIn('192.0.2.7'))).toEqual([...times(54, 'ok'), 'RATE_LIMITED']);
    expect(codeOf(await change())).toBe('RATE_LIMITED');
    expect(codeOf(await logIn('192.0.2.8'))).toBeUndefined();
  });

  it('rejects too many new passwords by all accounts of a caller: each is mailed to an address of their choice', async () => {
    const { identity: one } = await running.signUp('ada+1@example.com');
    const { identity: two } = await running.signUp('ada+2@example.com');
    const changes = codesOf(7, (index) => running.changePassword(at(index % 2 === 0 ? one : two, '192.0.2.7')));
    expect(await changes).toEqual([...times(6, 'ok'), 'RATE_LIMITED']);
    expect(codeOf(await running.changePassword(at(one, '192.0.2.8')))).toBeUndefined();
  });

  it('rejects too many changes by all accounts of a caller, together with new personal tokens', async () => {
    const { identity: ada } = await running.signUp('ada@example.com');
    const { identity: bob } = await running.signUp('bob@example.com');
    expect(await codesOf(40, () => running.changeName(at(ada, '192.0.2.7')))).toEqual(times(40, 'ok'));
    const tokens = await codesOf(21, () => running.createToken(at(bob, '192.0.2.7')));
    expect(tokens).toEqual([...times(20, 'ok'), 'RATE_LIMITED']);
    expect(codeOf(await running.changeName(at(bob, '192.0.2.7')))).toBe('RATE_LIMITED');
    expect(codeOf(await running.changeName(at(bob, '192.0.2.8')))).toBeUndefined();
  });

  it('treats an IPv6 network as one caller, and does not count what it sends above its limit against its site', async () => {
    const guess = (index: number) => login(running, `unknown-${index}@example.com`, '', `2001:db8:1:2::${index}`);
    expect(await codesOf(11, guess)).toEqual([...times(10, 'UNAUTHENTICATED'), 'RATE_LIMITED']);
    const ask = (network: number) => (index: number) =>
      running.send(REQUEST_RESET, { email: `n${index}@example.com` }, from(`2001:db8:1:${network}::${index}`));
    expect(await codesOf(25, ask(2))).toEqual([...times(6, 'ok'), ...times(19, 'RATE_LIMITED')]);
    expect(await codesOf(1, ask(3))).toEqual(['ok']);
  });

  it('gives all networks of an IPv6 site together four times as many', async () => {
    const ipAt = (index: number) => `2001:db8:2:${index}::1`;
    const ask = (index: number) => running.send(REQUEST_RESET, { email: `n${index}@example.com` }, from(ipAt(index)));
    expect(await codesOf(25, ask)).toEqual([...times(24, 'ok'), 'RATE_LIMITED']);
    const guess = (index: number) => login(running, `unknown-${index}@example.com`, '', ipAt(index));
    expect(await codesOf(41, guess)).toEqual([...times(40, 'UNAUTHENTICATED'), 'RATE_LIMITED']);
    expect(codeOf(await login(running, 'unknown@example.com', '', '2001:db8:3:1::1'))).toBe('UNAUTHENTICATED');
  });

  it('keeps no counters of networks whose site has used up its limit', async () => {
    const [keys, { limiter }] = [new Set<string>(), createMemoryKeyValue()];
    const recording = (options: LimiterOptions) => {
      const { consume, ...others } = limiter(options);
      return { ...others, consume: (key: string) => consume(key).finally(() => keys.add(`${options.name} ${key}`)) };
    };
    const keyValue = { ...createMemoryKeyValue(), limiter: recording };
    const { countSignUp } = createLimits({ keyValue, factor: 0.1, signInIps: async () => [] });
    for (let index = 0; index < 100; index++) await countSignUp(`2001:db8:5:${index}::1`).catch(() => undefined);
    expect(keys.size).toBe(24 + 1); // and their site
  });
});
