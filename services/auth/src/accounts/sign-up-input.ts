import { signUpInput } from '@taskmesh/validation';
import type { PasswordRules } from '../passwords/password-rules.ts';

/** Tells all that is wrong with a sign-up at once, by the rules for passwords as well. */
export function signUpInputBy(rules: Pick<PasswordRules, 'problemOf'>) {
  return signUpInput.superRefine(({ email, password }, context) => {
    if (context.issues.some(({ path }) => path?.includes('password'))) return;
    const message = rules.problemOf(password, email);
    if (message) context.addIssue({ code: 'custom', path: ['password'], message });
  });
}
