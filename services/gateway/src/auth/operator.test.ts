import type { IncomingMessage } from 'node:http';
import { createOperatorCheck } from './operator.ts';

function request(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  const rawHeaders = Object.entries(headers).flat();
  return { socket: { remoteAddress }, headers, rawHeaders } as unknown as IncomingMessage; // all that is read
}

const OK = { ok: true };
const UNKNOWN = { ok: false, status: 401 };
const REFUSED = { ok: false, status: 403 };

describe('an operator without a backup token', () => {
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
});

describe('an operator with a backup token', () => {
  const check = createOperatorCheck('secret');

  it('is whoever has it, from anywhere', () => {
    expect(check(request('203.0.113.9', { authorization: 'Bearer secret' }))).toEqual(OK);
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
