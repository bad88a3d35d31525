import { badUserInput } from '@taskmesh/errors';
import { codePoints, isBlank } from '@taskmesh/validation';

const MAX_LENGTH = 128;

export interface PasswordRules {
  /** `path` is the client's name for the field. @throws AppError BAD_USER_INPUT */
  check(password: string, path: string): void;
  /** @throws AppError BAD_USER_INPUT for a password that equals the account's address */
  checkAgainst(password: string, path: string, email: string): void;
}

export function createPasswordRules(options: { minLength: number; common: ReadonlySet<string> }): PasswordRules {
  const { minLength, common } = options;

  const problemOf = (password: string): string | undefined => {
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

  return {
    check(password, path) {
      const message = problemOf(password);
      if (message) throw badUserInput([{ path, message }]);
    },
    checkAgainst(password, path, email) {
      if (foldCase(password) !== foldCase(email)) return;
      throw badUserInput([{ path, message: 'password must not be the e-mail address.' }]);
    },
  };
}

function foldCase(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase();
}
