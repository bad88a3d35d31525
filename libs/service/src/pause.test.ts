import { pause } from './pause.ts';

it('lasts as long as it is told to', async () => {
  const begunMs = performance.now();
  await pause(20, new AbortController().signal);
  expect(performance.now() - begunMs).toBeGreaterThanOrEqual(19);
});

it('ends when it is aborted, without an error', async () => {
  const stopping = new AbortController();
  const pausing = pause(3_600_000, stopping.signal);
  stopping.abort();
  await expect(pausing).resolves.toBeUndefined();
});

it('does not begin when it was aborted before', async () => {
  await expect(pause(3_600_000, AbortSignal.abort())).resolves.toBeUndefined();
});
