import { createPasswordRules, readCommonPasswords } from './password-rules.ts';

const rules = createPasswordRules({ minLength: 8, common: readCommonPasswords() });
const isRefused = (password: string) => {
  try {
    rules.check(password, 'password', 'ada@example.com');
    return false;
  } catch {
    return true;
  }
};

describe('the password rules', () => {
  it.each([
    ['eight characters', 'x7-q4-z2', false],
    ['seven emoji, fourteen UTF-16 units', '😀🎈😀🎈😀🎈😀', true],
    ['eight characters that are seven when normalised', 'abcdefe\u0301', true],
    ['128 emoji', '😀🎈'.repeat(64), false],
    ['a ligature that grows beyond the limit when normalised', `${'ab'.repeat(63)}x\ufb03`, true],
    ['a common one in capitals', 'ILoveYou', true],
    ['a common one in full-width letters', 'ｐａｓｓｗｏｒｄ', true],
    ['lower case only', 'no digits and no capitals', false],
  ])('check %s', (_what, password, expected) => expect(isRefused(password)).toBe(expected));

  it('use the configured minimum length', () => {
    const longer = createPasswordRules({ minLength: 15, common: new Set() });
    expect(() => longer.check('x7-q4-z2-fourt', 'password', 'ada@example.com')).toThrow('15 to 128');
    expect(() => longer.check('x7-q4-z2-fiftee', 'password', 'ada@example.com')).not.toThrow();
  });

  it('reject the e-mail address as a password in every spelling', () => {
    for (const password of ['ada@example.com', ' ADA@Example.com ', 'ａda@example.com'])
      expect(() => rules.check(password, 'password', 'Ada@example.com')).toThrow('e-mail address');
    expect(() => rules.check('ada@example.com!', 'password', 'ada@example.com')).not.toThrow();
  });

  it('include thousands of common passwords, all long enough to matter', () => {
    const common = readCommonPasswords();
    expect(common.size).toBeGreaterThan(10_000);
    for (const password of common)
      if (password.length < 8 || password !== password.toLowerCase()) throw new Error(password);
  });
});
