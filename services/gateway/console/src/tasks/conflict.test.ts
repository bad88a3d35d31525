import type { Task } from '@taskmesh/client';
import { clashesOf } from './conflict.ts';

const BASE = {
  title: 'Water the plants',
  completed: false,
  dueDate: '2026-11-24T22:59:00.000Z',
  category: null,
  priority: 'MEDIUM',
} as Task; // all that is read

describe('two changes to one task', () => {
  it('do not conflict in different fields', () => {
    expect(clashesOf(BASE, { title: 'Water all plants' }, { ...BASE, completed: true })).toEqual([]);
  });

  it('do not conflict if they set the same values', () => {
    const theirs = { ...BASE, title: 'Water all plants', dueDate: '2026-11-25T22:59:00.000Z' };
    expect(clashesOf(BASE, { title: 'Water all plants', dueDate: '2026-11-25T23:59:00+01:00' }, theirs)).toEqual([]);
  });

  it('conflict in the fields that both changed', () => {
    const theirs = { ...BASE, title: 'Water one plant', category: 'garden' };
    expect(clashesOf(BASE, { title: 'Water all plants', category: 'house', priority: 'HIGH' }, theirs)).toEqual([
      'title',
      'category',
    ]);
  });

  it('conflict in every difference if the original is unknown', () => {
    expect(clashesOf(undefined, { title: 'Water all plants', priority: 'MEDIUM' }, BASE)).toEqual(['title']);
  });
});
