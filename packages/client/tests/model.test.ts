import { runLists } from './model/run-lists.ts';
import { runPages } from './model/run-pages.ts';

describe('lists stay consistent and converge to the server’s state', () => {
  it.each(Array.from({ length: 60 }, (_, index) => index + 1))('over a faulty network (seed %i)', (seed) =>
    runLists(seed, 300),
  );
});

describe('pages that share a storage lose no write, and send none twice or after a sign-out', () => {
  it.each(Array.from({ length: 40 }, (_, index) => index + 1))('in any order of events (seed %i)', (seed) =>
    runPages(seed, 300),
  );
});
