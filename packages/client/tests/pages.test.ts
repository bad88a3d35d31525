import { runPages } from './model/run-pages.ts';

describe('pages that share a storage lose no write, and send none twice or after a sign-out', () => {
  it.each(Array.from({ length: 40 }, (_, index) => index + 1))('in any order of events (seed %i)', (seed) =>
    runPages(seed, 300),
  );
});
