import { email, name, resetPasswordInput, signUpInput } from './accounts.ts';

const accepts = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('an e-mail address', () => {
  it.each([
    ['ada@example.com', true],
    ['ada+tag@exämple.com', true],
    [`${'a'.repeat(242)}@example.com`, true], // 254 characters
    [`${'a'.repeat(243)}@example.com`, false],
    ['ada', false],
    ['ada@', false],
    ['@example.com', false],
    ['a@b@c', false],
    ['a b@c', false],
    ['<ada@example.com', false],
    ['ada>@example.com', false],
    ['ada@example.com>', false],
    ['Ada<ada@example.com>', false],
    ['a@b.c\r\nBcc: x@y.z', false],
    ['a\0@b.c', false],
    ['\ud800@b.c', false],
    [7, false],
    [null, false],
    [['ada@example.com'], false],
    [{ $ne: null }, false],
  ])('%j is valid: %s', (value, expected) => {
    expect(accepts(email, value)).toBe(expected);
  });

  it('loses the blanks around it', () => {
    expect(email.parse('  ada@example.com\n')).toBe('ada@example.com');
  });
});

describe('a name', () => {
  it.each([
    ['Ada', true],
    ['x'.repeat(255), true],
    ['😀'.repeat(255), true],
    ['x'.repeat(256), false],
    ['', false],
    [' \u200b ', false],
    ['\u0085\u2028', false],
    ['a\0b', false],
    ['\udc00', false],
    [undefined, false],
  ])('%j is valid: %s', (value, expected) => {
    expect(accepts(name, value)).toBe(expected);
  });
});

describe('inputs', () => {
  it('need every field, and drop those that they do not know', () => {
    const whole = { email: 'ada@example.com', password: 'x', name: 'Ada' };
    expect(signUpInput.parse({ ...whole, isAdmin: true })).toEqual(whole);
    for (const field of Object.keys(whole)) expect(accepts(signUpInput, { ...whole, [field]: undefined })).toBe(false);
  });

  it('take tokens and passwords of a bounded length only', () => {
    const whole = { token: 't'.repeat(1_024), newPassword: 'p'.repeat(1_024) };
    expect(resetPasswordInput.parse(whole)).toEqual(whole);
    expect(accepts(resetPasswordInput, { ...whole, token: 't'.repeat(1_025) })).toBe(false);
    expect(accepts(resetPasswordInput, { ...whole, newPassword: 'p'.repeat(1_025) })).toBe(false);
  });
});
