import { bearerToken } from './bearer.ts';

it.each(['Bearer a.b-c', 'bearer a.b-c', 'BEARER   a.b-c', 'Bearer a.b-c  '])('takes the token from %j', (header) => {
  expect(bearerToken(header)).toBe('a.b-c');
});

it.each([undefined, '', 'Bearer', 'Bearer ', 'Bearer a b', 'Bearera', ' Bearer a', 'x Bearer a', 'Basic a', 'a'])(
  'finds none in %j',
  (header) => {
    expect(bearerToken(header)).toBe('');
  },
);
