import { countOf, describeRetention, formatSize, formatDuration } from './format.ts';

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1 kB'],
  [1_550, '1.6 kB'],
  [123_456, '123 kB'],
  [12_345_678, '12.3 MB'],
  [5e15, '5,000 TB'],
])('%i bytes are "%s"', (bytes, words) => expect(formatSize(bytes)).toBe(words));

it.each([
  [0, '0 seconds'],
  [1, '1 second'],
  [59, '59 seconds'],
  [90, '2 minutes'],
  [3_600, '1 hour'],
  [172_800, '2 days'],
])('%i seconds are "%s"', (seconds, words) => expect(formatDuration(seconds)).toBe(words));

it('counts in the singular, the plural, and null for zero', () => {
  expect([countOf(1, 'task', 'tasks'), countOf(12_000, 'task', 'tasks'), countOf(0, 'task', 'tasks')]).toEqual([
    '1 task',
    '12,000 tasks',
    null,
  ]);
});

it('describes which archives are kept', () => {
  expect([describeRetention(null), describeRetention({ last: 3, daily: 7 })]).toEqual(['all', 'the last 3, 7 daily']);
});
