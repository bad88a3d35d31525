import { describeAmount, describePhase, shareOf } from './describe-phase.ts';

it.each([
  [{ phase: 'dump', store: 'auth' }, 'Reading the accounts'],
  [{ phase: 'load', store: 'tasks' }, 'Loading the tasks'],
  [{ phase: 'check', store: 'another' }, 'Checking another'],
  [{ phase: 'check' }, 'Checking the archive'],
  [{ phase: 'later' }, 'Later'],
])('%j is "%s"', (progress, words) => expect(describePhase(progress)).toBe(words));

it.each([
  [{ phase: 'dump', doneBytes: 500, totalBytes: 1_000 }, '500 bytes of 1 kB', 0.5],
  [{ phase: 'dump', doneBytes: 2_000, totalBytes: 1_000 }, '2 kB of 1 kB', 1],
  [{ phase: 'dump', doneBytes: 500, totalBytes: 0 }, '500 bytes', undefined],
  [{ phase: 'swap' }, undefined, undefined],
])('the amount of %j is %s', (progress, words, share) => {
  expect([describeAmount(progress), shareOf(progress)]).toEqual([words, share]);
});
