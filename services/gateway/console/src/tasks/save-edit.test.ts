import { TaskmeshError, type Client, type Task } from '@taskmesh/client';
import { createTaskReader, saveEdit } from './save-edit.ts';

it('counts a change while it waits for the task that was changed elsewhere', async () => {
  const base = { id: '7', title: 'before', version: 1 } as Task;
  const { promise: read, resolve } = Promise.withResolvers<{ task: Task }>();
  const reader = createTaskReader({ request: () => read } as unknown as Client);
  const updateTask = () => Promise.reject(new TaskmeshError('PRECONDITION_FAILED', 'changed'));
  const saved = saveEdit({ updateTask }, reader, { base, changes: { title: 'mine' } });
  await new Promise((resolve) => setTimeout(resolve));
  expect(reader.waiting()).toBe(1);
  resolve({ task: { ...base, title: 'theirs', version: 2 } });
  expect(await saved).toMatchObject({ clashes: ['title'] });
  expect(reader.waiting()).toBe(0);
});
