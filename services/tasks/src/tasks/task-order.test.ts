import type { Task } from './task.entities.ts';
import { decodeCursor, encodeCursor, placeOf, type TaskOrder } from './task-order.ts';

const task: Task = {
  id: '01890000-0000-7000-8000-000000000001',
  ownerId: '01890000-0000-7000-8000-0000000000aa',
  title: 'placed',
  description: null,
  completed: false,
  dueDate: null,
  category: null,
  priority: 'high',
  createdAt: '2026-11-20T10:00:00.000Z',
  updatedAt: '2026-11-20T11:00:00.000Z',
  version: 1,
};

const places: [TaskOrder['field'], (string | number | null)[]][] = [
  ['CREATED_AT', [task.createdAt, task.id]],
  ['UPDATED_AT', [task.updatedAt, task.createdAt, task.id]],
  ['DUE_DATE', [null, task.createdAt, task.id]],
  ['PRIORITY', [2, task.createdAt, task.id]],
];

it.each(places)('gives the place back that was put into a cursor of %s', (field, place) => {
  const order: TaskOrder = { field, direction: 'ASC' };
  expect(placeOf(task, order)).toEqual(place);
  expect(decodeCursor(order, encodeCursor(order, place))).toEqual(place);
  expect(() => decodeCursor({ field, direction: 'DESC' }, encodeCursor(order, place))).toThrow('after is not a cursor');
});
