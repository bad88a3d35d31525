import { listStatement, type ListRequest } from './list.statements.ts';

it.each([
  ['CREATED_AT', {}, false],
  ['CREATED_AT', { completed: null }, false],
  ['CREATED_AT', { completed: false }, true],
  ['DUE_DATE', {}, true],
] as const)(
  'for a list by %s with the filter %j, reports whether it reads all tasks of its owner: %s',
  (field, filter, readsAll) => {
    const rest = { ownerId: 'o', limit: 1, offset: 0, after: undefined, withTotal: true, withHead: true };
    const request: ListRequest = { ...rest, withPrevious: false, filter, order: { field, direction: 'DESC' } };
    expect(listStatement(request).readsAll).toBe(readsAll);
  },
);
