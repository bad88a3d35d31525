import { isPersonalToken, newPersonalToken } from './identity.ts';

const LIKE_ONE = `taskmesh_pat_${'x'.repeat(43)}`;

it('a personal token is different each time, and recognised by its form', () => {
  const tokens = Array.from({ length: 100 }, newPersonalToken);
  expect(new Set(tokens).size).toBe(100);
  expect(tokens.every(isPersonalToken)).toBe(true);
});

it.each(['', 'taskmesh_pat_', 'a.b.c', ` ${LIKE_ONE}`, `${LIKE_ONE}x`, `${LIKE_ONE}\n`])(
  '%j is not a personal token',
  (text) => expect(isPersonalToken(text)).toBe(false),
);
