import { requireFilled } from './require-filled.ts';

const NEEDED = { email: 'Type your e-mail address.', password: 'Type your password.' };

it('reports each empty field as the server does', () => {
  expect(() => requireFilled({ email: ' ', password: '' }, NEEDED)).toThrow(
    expect.objectContaining({
      code: 'BAD_USER_INPUT',
      issues: [
        { path: 'email', message: 'Type your e-mail address.' },
        { path: 'password', message: 'Type your password.' },
      ],
    }),
  );
  expect(() => requireFilled({ email: 'ada@example.com' }, NEEDED)).toThrow(
    expect.objectContaining({ issues: [{ path: 'password', message: 'Type your password.' }] }),
  );
});

it('accepts fields that are filled', () => {
  expect(() => requireFilled({ email: 'ada@example.com', password: ' x ' }, NEEDED)).not.toThrow();
});
