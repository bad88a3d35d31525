import { requireFilled } from './require-filled.ts';

const NEEDED = { email: 'Type your e-mail address.', password: 'Type your password.' };

it('what is empty is reported for each field, as the server would', () => {
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

it('what is there may be sent', () => {
  expect(() => requireFilled({ email: 'ada@example.com', password: ' x ' }, NEEDED)).not.toThrow();
});
