import type { SignInCode } from './sign-in-code.entity.ts';

/** Leaves time to find the password of the account, or to set a new one by mail. */
export const CODE_MS = 10 * 60_000;
/** A page that comes back uses its code at once. */
const ALONE_MS = 60_000;

/** Whether the code still opens a session by itself. Afterwards it only links, which takes the password of the account. */
export const worksAlone = ({ createdAt }: Pick<SignInCode, 'createdAt'>, now: Date): boolean =>
  now.getTime() - createdAt.getTime() < ALONE_MS;
