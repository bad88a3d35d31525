export { choice } from './choice.ts';
export { parseInput } from './parse.ts';
export { codePoints, isBlank, stringField, text } from './text.ts';
export { parseTimestamp, timestamp } from './timestamp.ts';
export { parseUuid } from './uuid.ts';
export {
  createTaskInput,
  PRIORITIES,
  updateTaskInput,
  type CreateTask,
  type Priority,
  type UpdateTask,
} from './tasks.ts';
export {
  beginSignInInput,
  changeEmailInput,
  changeNameInput,
  changePasswordInput,
  codeChallenge,
  confirmEmailInput,
  deleteAccountInput,
  email,
  forgotPasswordInput,
  linkIdentityInput,
  loginInput,
  name,
  password,
  personalTokenInput,
  resetPasswordInput,
  returnTo,
  signInWithCodeInput,
  signUpInput,
  type Login,
  type SignUp,
} from './accounts.ts';
