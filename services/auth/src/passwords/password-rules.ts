import { badUserInput, codePoints, isBlank } from '@taskmesh/contracts';
import { readFileSync } from 'node:fs';

const MAX_LENGTH = 128;

export type PasswordRules = ReturnType<typeof createPasswordRules>;

export function createPasswordRules(options: { minLength: number; common: ReadonlySet<string> }) {
  const { minLength, common } = options;

  const problemOfAny = (password: string): string | undefined => {
    if (!password.isWellFormed() || password.includes('\0'))
      return 'password must not contain NUL characters or lone surrogates.';
    const normalized = password.normalize('NFKC');
    const length = codePoints(normalized);
    if (length < minLength || length > MAX_LENGTH)
      return `password must have ${minLength} to ${MAX_LENGTH} characters.`;
    if (isBlank(normalized)) return 'password must not be blank.';
    if (common.has(normalized.toLowerCase())) return 'password is one of the most common ones.';
    return undefined;
  };

  /** Returns the problem with a password for the account with this address; undefined if there is none. */
  const problemOf = (password: string, email: string) => problemOfAny(password) ?? problemWithEmail(email, password);

  return {
    problemOf,
    /** `path` is the client's name for the field. @throws AppError BAD_USER_INPUT */
    check(password: string, path: string, email: string): void {
      const message = problemOf(password, email);
      if (message) throw badUserInput([{ path, message }]);
    },
  };
}

/** The most common passwords, in lower case; the file names its source. */
export function readCommonPasswords(): ReadonlySet<string> {
  const lines = readFileSync(new URL('./common-passwords.txt', import.meta.url), 'utf8').split('\n');
  return new Set(lines.filter((line) => line !== '' && !line.startsWith('#')));
}

function problemWithEmail(email: string, password: string): string | undefined {
  return foldCase(password) === foldCase(email) ? 'password must not be the e-mail address.' : undefined;
}

function foldCase(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}
