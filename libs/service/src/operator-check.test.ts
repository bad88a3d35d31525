import type { IncomingMessage } from 'node:http';
import { createOperatorCheck } from './operator-check.ts';

function request(remoteAddress: string, own: Record<string, string> = {}): IncomingMessage {
  const headers: Record<string, string> = { host: 'localhost:4000', ...own };
  const rawHeaders = Object.entries(headers).flat();
  return { socket: { remoteAddress }, headers, rawHeaders } as unknown as IncomingMessage; // all that is read
}

const OK = { ok: true };
const UNKNOWN = { ok: false, status: 401 };
const REFUSED = { ok: false, status: 403 };

describe('an operator without a token', () => {
  const check = createOperatorCheck(undefined);

  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])('is whoever comes from %s', (address) => {
    expect(check(request(address))).toEqual(OK);
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', ''])('is nobody from %s', (address) => {
    expect(check(request(address))).toEqual(REFUSED);
  });

  it.each(['origin', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'])(
    'is nobody with the header %s',
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
  const check = createOperatorCheck('secret');

  it('is whoever has it, from anywhere', () => {
    expect(check(request('203.0.113.9', { authorization: 'Bearer secret', host: 'tasks.example' }))).toEqual(OK);
    expect(check(request('203.0.113.9', { authorization: 'bearer secret', origin: 'https://x' }))).toEqual(OK);
  });

  it.each(['', 'Bearer', 'Bearer secret2', 'Bearer secre', 'Bearer Secret', 'Bearer sécret', 'Basic secret', 'secret'])(
    'is nobody with "%s"',
    (authorization) => {
      expect(check(request('127.0.0.1', { authorization }))).toEqual(UNKNOWN);
    },
  );

  it('is nobody without a token, or with two', () => {
    expect(check(request('127.0.0.1'))).toEqual(UNKNOWN);
    expect(check(request('127.0.0.1', { authorization: 'Bearer secret', Authorization: 'Bearer secret' }))).toEqual(
      UNKNOWN,
    );
  });
});
