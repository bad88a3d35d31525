import { encodeText, gzipFor } from './negotiation.ts';

it('sends a text uncompressed while two others are being compressed, instead of waiting', async () => {
  const large = 'some words of a task '.repeat(400_000);
  const others = [gzipFor('gzip', large), gzipFor('gzip', large)];
  expect(await gzipFor('gzip', 'x'.repeat(5_000))).toBeUndefined();
  for (const compressed of await Promise.all(others)) expect(compressed?.length).toBeGreaterThan(0);
  expect(await gzipFor('gzip', 'x'.repeat(5_000))).toBeInstanceOf(Buffer);
});

it('encodes a large text in another turn of the event loop, and others at once', async () => {
  let isNextTurn = false;
  setImmediate(() => (isNextTurn = true));
  expect(await encodeText('é')).toBe('é');
  expect(isNextTurn).toBe(false);
  expect(Buffer.alloc(600_000, 'é').equals((await encodeText('é'.repeat(300_000))) as Buffer)).toBe(true);
  expect(isNextTurn).toBe(true);
});
