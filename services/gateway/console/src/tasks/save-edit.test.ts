import { TaskmeshError, type Client, type Task } from '@taskmesh/client';
import { createTaskReader, saveEdit } from './save-edit.ts';

it('counts a change while it waits for the task that was changed elsewhere', async () => {
  const base = { id: '7', title: 'before', version: 1 } as Task;
  const { promise: read, resolve } = Promise.withResolvers<{ task: Task }>();
  const reader = createTaskReader({ request: () => read } as unknown as Client);
  const updateTask = () => Promise.reject(new TaskmeshError('PRECONDITION_FAILED', 'changed'));
  const saved = saveEdit({ updateTask, idOf: (id) => id }, reader, { base, changes: { title: 'mine' } });
  await new Promise((resolve) => setTimeout(resolve));
  expect(reader.waiting()).toBe(1);
  resolve({ task: { ...base, title: 'theirs', version: 2 } });
  expect(await saved).toMatchObject({ clashes: ['title'] });
  expect(reader.waiting()).toBe(0);
});

it('a change of a task that was still being created does not overwrite one made elsewhere', async () => {
  const base = { id: 'local:1', title: 'before', version: 0 } as Task;
  const theirs = { ...base, id: '7', title: 'theirs', version: 2 };
  const request = async (_: unknown, { id }: { id: string }) => ({ task: id === '7' ? theirs : null });
  const reader = createTaskReader({ request } as unknown as Client);
  const updateTask = jest.fn().mockRejectedValue(new TaskmeshError('PRECONDITION_FAILED', 'changed'));
  const conflict = await saveEdit({ updateTask, idOf: () => '7' }, reader, { base, changes: { title: 'mine' } });
  expect(updateTask).toHaveBeenCalledWith('local:1', { title: 'mine' }, { ifVersion: 1 });
  expect(conflict).toMatchObject({ theirs, clashes: ['title'] });
});

it('waits for the task while the gateway does not trust the text of the query, as during an update', async () => {
  const wait = jest.spyOn(globalThis, 'setTimeout').mockImplementation(((goOn: () => void) => goOn()) as never);
  const refusal = new TaskmeshError('FORBIDDEN', 'not trusted', { retryAfterMs: 1e12 });
  const answers = [Promise.reject(refusal), { task: { id: '7' } }];
  const reader = createTaskReader({ request: async () => answers.shift() } as unknown as Client);
  const task = await reader.read('7');
  expect(wait).toHaveBeenCalledWith(expect.anything(), 2 ** 31 - 1); // a longer timer would fire at once
  wait.mockRestore();
  expect(task).toEqual({ id: '7' });
});
