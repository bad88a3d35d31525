import { TaskmeshError } from '@taskmesh/client';
import { explain } from './explain.ts';

it.each([
  ['dueDate must be a time.', 'Due date must be a time.'],
  ['email must be an address.', 'E-mail must be an address.'],
  ['title is too short.', 'Title is too short.'],
  ['ada@example.com has an account.', 'ada@example.com has an account.'],
  ['The password is wrong.', 'The password is wrong.'],
  ['PostgreSQL cannot be reached.', 'PostgreSQL cannot be reached.'],
])('says "%s" as a sentence', (message, sentence) => {
  expect(explain(new TaskmeshError('BAD_USER_INPUT', message))).toBe(sentence);
});
