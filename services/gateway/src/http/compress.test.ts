import { gzipFor } from './compress.ts';

it('sends a text as it is while two others are compressed, instead of waiting for them', async () => {
  const large = 'some words of a task '.repeat(400_000);
  const others = [gzipFor('gzip', large), gzipFor('gzip', large)];
  expect(await gzipFor('gzip', 'x'.repeat(5_000))).toBeUndefined();
  for (const compressed of await Promise.all(others)) expect(compressed?.length).toBeGreaterThan(0);
  expect(await gzipFor('gzip', 'x'.repeat(5_000))).toBeInstanceOf(Buffer);
});
