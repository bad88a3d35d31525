import { runLists } from './model/run-lists.ts';

describe('lists are in the end what the server has, and never in disorder', () => {
  it.each(Array.from({ length: 60 }, (_, index) => index + 1))('over a faulty network (seed %i)', (seed) =>
    runLists(seed, 300),
  );
});
