import murmur2 from 'kafkajs/src/producer/partitioners/default/murmur2.js';
import { partitionOf } from './partition-of.ts';

const ALL = 2 ** 31;

it.each([
  ['21', -973_932_308],
  ['foobar', -790_332_482],
  ['a-little-bit-long-string', -985_981_536],
  ['a-little-bit-longer-string', -1_486_304_829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58_897_971],
])('hashes %j as the tests of Kafka itself say', (key, hash) => {
  expect(partitionOf(key, ALL)).toBe(hash & 0x7fffffff);
});

it('puts keys of any length and characters where kafkajs puts them', () => {
  const letters = ['a', '\u007f', 'ä', '€', '😀', '\0', '-'];
  for (let length = 0; length < 200; length++) {
    const key = Array.from({ length }, (_, index) => letters[(index * length + index) % letters.length]).join('');
    expect(partitionOf(key, ALL)).toBe(murmur2(key) & 0x7fffffff);
    expect(partitionOf(key, 8)).toBe((murmur2(key) & 0x7fffffff) % 8);
  }
});
