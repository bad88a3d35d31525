export { parseInput } from './parse.ts';
export { codePoints, isBlank, text } from './text.ts';
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
  changeEmailInput,
  changeNameInput,
  changePasswordInput,
  confirmEmailInput,
  deleteAccountInput,
  email,
  forgotPasswordInput,
  loginInput,
  name,
  password,
  personalTokenInput,
  resetPasswordInput,
  signUpInput,
  type Login,
  type SignUp,
} from './accounts.ts';
