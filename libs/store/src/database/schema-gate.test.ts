import { createRecordingLog } from '@taskmesh/service/testing';
import { eventually } from '@taskmesh/testing';
import type { SchemaState } from './database.ts';
import { createSchemaGate, type SchemaPolicy } from './schema-gate.ts';

function gateBefore(state: SchemaState, policy: SchemaPolicy) {
  const { log, lines } = createRecordingLog();
  const database = {
    state,
    migrate: async () => void (database.state = { ...database.state, missing: [] }),
    schemaState: async () => database.state,
  };
  return { database, lines, gate: createSchemaGate({ database, policy, log }) };
}

const MIGRATES = { migrates: true, acceptsNewer: false };
const WAITS = { migrates: false, acceptsNewer: false };

it('a service that migrates opens when the schema is up to date, and stays open when a newer version migrates', async () => {
  const { gate, database } = gateBefore({ missing: ['0001'], unknown: [] }, MIGRATES);
  expect(gate.isOpen()).toBe(false);
  await gate.start();
  expect(gate.isOpen()).toBe(true);
  database.state = { missing: [], unknown: ['0009-later'] };
  expect(gate.isOpen()).toBe(true);
});

it('a service that migrates refuses the schema of a newer version, unless that is allowed', async () => {
  const newer = { missing: [], unknown: ['0009-later'] };
  const { gate } = gateBefore(newer, MIGRATES);
  await expect(gate.start()).rejects.toThrow(/of a newer version, with 0009-later: .*NEWER_SCHEMA=allow/);
  expect(gate.isOpen()).toBe(false);
  const allowed = gateBefore(newer, { ...MIGRATES, acceptsNewer: true }).gate;
  await allowed.start();
  expect(allowed.isOpen()).toBe(true);
});

it('a service that does not migrate waits while the schema is of a newer version, and can be stopped while it waits', async () => {
  const { gate, lines } = gateBefore({ missing: [], unknown: ['0009-later'] }, WAITS);
  const ended = expect(gate.start()).rejects.toThrow('abort');
  await eventually(() => expect(lines).toHaveLength(1));
  await gate.stop();
  await ended;
  expect(gate.isOpen()).toBe(false);
});
