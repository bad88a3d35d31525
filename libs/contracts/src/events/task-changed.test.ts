import { parseTaskChanged } from './task-changed.ts';
import { TASK_FIELDS } from './task-fields.ts';

/** A record written by release 0.1.0. Never change it: a newer gateway reads such records from an older relay. */
const RECORD_OF_0_1_0 = `{"id":"7","epoch":1,"ownerId":"01890000-0000-7000-8000-0000000000aa","sequence":2,"kind":"UPDATE",
  "task":{"id":"01890000-0000-7000-8000-0000000000bb","ownerId":"01890000-0000-7000-8000-0000000000aa","title":"after",
    "description":null,"completed":true,"dueDate":null,"category":"home","priority":"high",
    "createdAt":"2026-11-20T10:00:00.000Z","updatedAt":"2026-11-20T10:00:01.000Z","version":2},
  "previous":{"id":"01890000-0000-7000-8000-0000000000bb","ownerId":"01890000-0000-7000-8000-0000000000aa","title":"before",
    "description":"some","completed":false,"dueDate":"2026-12-01T18:00:00.000Z","category":null,"priority":"low",
    "createdAt":"2026-11-20T10:00:00.000Z","updatedAt":"2026-11-20T10:00:00.000Z","version":1},
  "occurredAt":"2026-11-20T10:00:01.000Z","cursor":"a cursor","traceparent":null}`;

it('reads a record of the first release, with a value for every field that came later', () => {
  const { task, previous } = parseTaskChanged(RECORD_OF_0_1_0);
  for (const image of [task, previous ?? {}]) {
    expect(Object.keys(image).toSorted()).toEqual(Object.keys(TASK_FIELDS).toSorted());
    expect(Object.values(image)).not.toContain(undefined);
  }
});

it('drops fields that only a newer release knows', () => {
  const record = RECORD_OF_0_1_0.replaceAll('"title"', '"colour":"red","title"');
  expect(parseTaskChanged(record)).toEqual(parseTaskChanged(RECORD_OF_0_1_0));
});
