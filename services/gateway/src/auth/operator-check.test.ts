import type { IncomingMessage } from 'node:http';
import { createOperatorCheck } from './operators.ts';

type Headers = Record<string, string>;
/** Where a request comes from, and its headers in addition to `Host: localhost:4000`. */
type Sent = [remoteAddress: string, headers: Headers];

function request([remoteAddress, own]: Sent): IncomingMessage {
  const headers: Headers = { host: 'localhost:4000', ...own };
  const rawHeaders = Object.entries(headers).flat();
  return { socket: { remoteAddress }, headers, rawHeaders } as unknown as IncomingMessage; // all that is read
}

const [OK, UNKNOWN, REFUSED] = [200, 401, 403];
const HERE = '127.0.0.1';
const AWAY = ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', ''];
const PROXIES = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
const from = (addresses: string[], headers: Headers = {}) => addresses.map((address): Sent => [address, headers]);
const here = (...each: Headers[]) => each.map((headers): Sent => [HERE, headers]);
const each = (name: string, values: string[], more: Headers = {}) =>
  here(...values.map((value) => ({ ...more, [name]: value })));
const bearer = { authorization: 'Bearer secret' };
const twice = { ...bearer, Authorization: 'Bearer secret' };

describe('an operator without a token', () => {
  const check = createOperatorCheck({ token: undefined });

  it.each<Sent>([
    ...from([HERE, '127.9.9.9', '::1', '::ffff:127.0.0.1']),
    ...each('host', ['localhost', 'LocalHost:4000', '127.0.0.1:4000', '127.1.2.3', '[::1]', '[::1]:4000']),
    ...each('sec-fetch-site', ['none', 'same-origin']),
  ])('is everyone on this machine: %s %j', (...sent) => expect(check(request(sent))).toEqual(OK));

  it.each<Sent>([
    ...from(AWAY),
    ...['origin', ...PROXIES].flatMap((name) => each(name, ['x'])),
    ...each('host', ['evil.example', 'evil.example:4000', 'localhost.evil.example', '127.0.0.1.evil.example']),
    ...each('host', ['evil.example#localhost', 'user@localhost', 'localhost:4000:1', '10.0.0.1:4000', '']),
    ...each('sec-fetch-site', ['cross-site', 'same-site', 'nonsense', '']),
  ])('is no one on another machine, and no page of another site: %s %j', (...sent) => {
    expect(check(request(sent))).toEqual(REFUSED);
  });

  it('must send a Host header', () => {
    const { socket } = request([HERE, {}]);
    expect(check({ socket, headers: {}, rawHeaders: [] } as unknown as IncomingMessage)).toEqual(REFUSED); // HTTP/1.0 allows it
  });
});

describe('an operator with a token', () => {
  const check = createOperatorCheck({ token: 'secret', machineToken: 'of-the-machine' });

  it('is everyone who sends it, from anywhere', () => {
    const more: Headers[] = [{ host: 'tasks.example' }, { origin: 'https://x', authorization: 'bearer secret' }];
    for (const headers of more) expect(check(request(['203.0.113.9', { ...bearer, ...headers }]))).toEqual(OK);
  });

  it.each<Sent>([
    ...here({}, twice),
    ...each('authorization', ['', 'Bearer', 'Bearer secret2', 'Bearer secre', 'Bearer Secret', 'Bearer sécret']),
    ...each('authorization', ['Basic secret', 'secret', 'Bearer of-the-machine']),
  ])('is no one else: %s %j', (...sent) => expect(check(request(sent))).toEqual(UNKNOWN));
});

describe('an operator with the token of this machine', () => {
  const check = createOperatorCheck({ token: undefined, machineToken: 'secret' });
  const old = { origin: 'http://localhost:4000' };
  const page = { ...old, 'sec-fetch-site': 'same-origin' };
  const own = { ...page, ...bearer };
  const at = (host: string, origin = `http://${host}`) => ({ ...own, host, origin });

  it.each<Sent>([
    ...from([HERE, '::1'], own),
    ...[at('127.0.0.1:4000'), at('LocalHost', 'http://localhost'), at('[::1]:4000')].flatMap((headers) =>
      from([HERE, '::1'], headers),
    ),
    ...here({}, bearer, { authorization: "Bearer somebody's" }),
  ])('is our own page that sends it, and any program on this machine: %s %j', (...sent) => {
    expect(check(request(sent))).toEqual(OK);
  });

  it.each<Sent>([
    ...here(page, { ...page, authorization: 'Bearer secre' }, { ...page, ...twice }),
    ...here({ ...page, cookie: 'token=secret', 'x-token': 'secret' }),
  ])('is no page that does not send it: %s %j', (...sent) => expect(check(request(sent))).toEqual(UNKNOWN));

  const ORIGINS = `https://evil.example|http://evil.example:4000|http://localhost:5000|http://localhost|https://localhost:4000
    |http://127.0.0.1:4000|http://localhost:4000, http://localhost:4000|http://localhost:4000.evil.example|http://localhost:4000/|null|`;
  it.each<Sent>([
    ...each('origin', ORIGINS.split(/\s*\|/), bearer),
    ...here(at('evil.example'), at('evil.example:4000'), at('10.0.0.1:4000')),
    ...each('sec-fetch-site', ['cross-site', 'same-site'], own),
    ...PROXIES.flatMap((name) => each(name, [HERE], own)),
    ...from(AWAY, own),
    ...from(AWAY, bearer),
  ])('is no other page, and no remote or proxied caller, even with it: %s %j', (...sent) => {
    expect(check(request(sent))).toEqual(REFUSED);
  });
});
