import type { Task } from '@taskmesh/client';
import { clashesOf } from './conflict.ts';

const BASE: Task = {
  id: '1',
  title: 'Water the plants',
  description: null,
  completed: false,
  dueDate: '2026-11-24T22:59:00.000Z',
  category: null,
  priority: 'MEDIUM',
  createdAt: '2026-11-24T08:00:00.000Z',
  updatedAt: '2026-11-24T08:00:00.000Z',
  version: 1,
};

describe('two changes of one task', () => {
  it('go together when they are of different fields', () => {
    expect(clashesOf(BASE, { title: 'Water all plants' }, { ...BASE, completed: true, version: 2 })).toEqual([]);
  });

  it('go together when they say the same', () => {
    const theirs = { ...BASE, title: 'Water all plants', dueDate: '2026-11-25T22:59:00.000Z', version: 2 };
    expect(clashesOf(BASE, { title: 'Water all plants', dueDate: '2026-11-25T23:59:00+01:00' }, theirs)).toEqual([]);
  });

  it('clash in the fields that both have changed', () => {
    const theirs = { ...BASE, title: 'Water one plant', category: 'garden', version: 2 };
    expect(clashesOf(BASE, { title: 'Water all plants', category: 'house', priority: 'HIGH' }, theirs)).toEqual([
      'title',
      'category',
    ]);
  });

  it('clash in every difference when it is unknown what was before', () => {
    expect(clashesOf(undefined, { title: 'Water all plants', priority: 'MEDIUM' }, BASE)).toEqual(['title']);
  });
});
