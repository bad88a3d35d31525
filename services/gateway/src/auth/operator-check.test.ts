import type { IncomingMessage } from 'node:http';
import { createOperatorCheck } from './operators.ts';

function request(remoteAddress: string, own: Record<string, string> = {}): IncomingMessage {
  const headers: Record<string, string> = { host: 'localhost:4000', ...own };
  const rawHeaders = Object.entries(headers).flat();
  return { socket: { remoteAddress }, headers, rawHeaders } as unknown as IncomingMessage; // all that is read
}

const [OK, UNKNOWN, REFUSED] = [200, 401, 403];

describe('an operator without a token', () => {
  const check = createOperatorCheck({ token: undefined });

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('is everyone who comes from %s', (address) => {
    expect(check(request(address))).toEqual(OK);
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', ''])('is no one from %s', (address) => {
    expect(check(request(address))).toEqual(REFUSED);
  });

  it.each(['origin', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'])(
    'is no one with the header %s',
    (name) => {
      expect(check(request('127.0.0.1', { [name]: 'x' }))).toEqual(REFUSED);
    },
  );

  it.each(['localhost', 'LocalHost:4000', '127.0.0.1:4000', '127.1.2.3', '[::1]', '[::1]:4000'])(
    'may call this machine %s',
    (host) => {
      expect(check(request('127.0.0.1', { host }))).toEqual(OK);
    },
  );

  it.each([
    'evil.example',
    'evil.example:4000',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example#localhost',
    'user@localhost',
    'localhost:4000:1',
    '10.0.0.1:4000',
    '',
  ])('is no page whose own name leads to this machine: Host "%s"', (host) => {
    expect(check(request('127.0.0.1', { host }))).toEqual(REFUSED);
  });

  it('says to which host it speaks', () => {
    const { socket } = request('127.0.0.1');
    expect(check({ socket, headers: {}, rawHeaders: [] } as unknown as IncomingMessage)).toEqual(REFUSED); // HTTP/1.0 allows it
  });

  it.each(['cross-site', 'same-site', 'nonsense', ''])('is no page of another site: Sec-Fetch-Site "%s"', (site) => {
    expect(check(request('127.0.0.1', { 'sec-fetch-site': site }))).toEqual(REFUSED);
  });

  it.each(['none', 'same-origin'])('may be a person with a browser: Sec-Fetch-Site "%s"', (site) => {
    expect(check(request('127.0.0.1', { 'sec-fetch-site': site }))).toEqual(OK);
  });
});

describe('an operator with a token', () => {
  const check = createOperatorCheck({ token: 'secret', machineToken: 'of-the-machine' });

  it('is everyone who has it, from anywhere', () => {
    expect(check(request('203.0.113.9', { authorization: 'Bearer secret', host: 'tasks.example' }))).toEqual(OK);
    expect(check(request('203.0.113.9', { authorization: 'bearer secret', origin: 'https://x' }))).toEqual(OK);
  });

  it.each(['', 'Bearer', 'Bearer secret2', 'Bearer secre', 'Bearer Secret', 'Bearer sécret', 'Basic secret', 'secret'])(
    'is no one with "%s"',
    (authorization) => {
      expect(check(request('127.0.0.1', { authorization }))).toEqual(UNKNOWN);
    },
  );

  it('is no one with the token of the machine', () => {
    expect(check(request('127.0.0.1', { authorization: 'Bearer of-the-machine' }))).toEqual(UNKNOWN);
  });

  it('is no one without a token, or with two', () => {
    expect(check(request('127.0.0.1'))).toEqual(UNKNOWN);
    expect(check(request('127.0.0.1', { authorization: 'Bearer secret', Authorization: 'Bearer secret' }))).toEqual(
      UNKNOWN,
    );
  });
});

describe('an operator with the token of this machine', () => {
  const check = createOperatorCheck({ token: undefined, machineToken: 'secret' });
  const page = { host: 'localhost:4000', origin: 'http://localhost:4000', 'sec-fetch-site': 'same-origin' };
  const bearer = { authorization: 'Bearer secret' };

  it.each([
    {},
    { host: '127.0.0.1:4000', origin: 'http://127.0.0.1:4000' },
    { host: 'LocalHost', origin: 'http://localhost' },
    { host: '[::1]:4000', origin: 'http://[::1]:4000' },
  ])('may be our own page, opened on this machine: %j', (own) => {
    expect(check(request('127.0.0.1', { ...page, ...bearer, ...own }))).toEqual(OK);
    expect(check(request('::1', { ...page, ...bearer, ...own }))).toEqual(OK);
  });

  it.each<Record<string, string>>([
    {},
    { authorization: 'Bearer secre' },
    { authorization: 'Bearer secret', Authorization: 'Bearer secret' },
    { cookie: 'token=secret', 'x-token': 'secret' },
  ])('is no page without it: %j', (given) => {
    expect(check(request('127.0.0.1', { ...page, ...given }))).toEqual(UNKNOWN);
  });

  it.each([
    'https://evil.example',
    'http://evil.example:4000',
    'http://localhost:5000',
    'http://localhost',
    'https://localhost:4000',
    'http://127.0.0.1:4000',
    'http://localhost:4000, http://localhost:4000',
    'http://localhost:4000.evil.example',
    'http://localhost:4000/',
    'null',
    '',
  ])('is no page of another origin, even with "%s"', (origin) => {
    const { 'sec-fetch-site': _, ...old } = page;
    expect(check(request('127.0.0.1', { ...old, ...bearer, origin }))).toEqual(REFUSED);
  });

  it.each<Record<string, string>>([
    { host: 'evil.example', origin: 'http://evil.example' },
    { host: 'evil.example:4000', origin: 'http://evil.example:4000' },
    { host: '10.0.0.1:4000', origin: 'http://10.0.0.1:4000' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { forwarded: 'for=10.0.0.1' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
    { via: '1.1 proxy' },
  ])('is no one who came by another name, another site or a proxy: %j', (given) => {
    expect(check(request('127.0.0.1', { ...page, ...bearer, ...given }))).toEqual(REFUSED);
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', ''])('is no one from %s', (address) => {
    expect(check(request(address, { ...page, ...bearer }))).toEqual(REFUSED);
    expect(check(request(address, bearer))).toEqual(REFUSED);
  });

  it('is a program on this machine all the same, with it or without', () => {
    for (const given of [{}, bearer, { authorization: "Bearer somebody's" }])
      expect(check(request('127.0.0.1', given))).toEqual(OK);
  });
});
