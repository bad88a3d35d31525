import { listStatement, type ListRequest } from './list.statements.ts';

it.each([
  ['CREATED_AT', {}, 1_000, false],
  ['CREATED_AT', {}, 1_001, true],
  ['CREATED_AT', { completed: null }, 0, false],
  ['CREATED_AT', { completed: false }, 0, true],
  ['DUE_DATE', {}, 0, true],
] as const)(
  'for a list by %s with the filter %j from %d on, reports whether it reads all tasks of its owner: %s',
  (field, filter, offset, readsAll) => {
    const rest = { ownerId: 'o', limit: 1, offset, after: undefined, withTotal: true, withHead: true };
    const request: ListRequest = { ...rest, withPrevious: false, filter, order: { field, direction: 'DESC' } };
    expect(listStatement(request).readsAll).toBe(readsAll);
  },
);
