import { runLists } from './model/run-lists.ts';

describe('lists stay consistent and converge to the server’s state', () => {
  it.each(Array.from({ length: 60 }, (_, index) => index + 1))('over a faulty network (seed %i)', (seed) =>
    runLists(seed, 300),
  );
});
