import { supergraph } from './fakes/executor.ts';

const ROOTS = ['Query', 'Mutation', 'Subscription']; // their names say everything

it('describes every type, field, argument and value of the public graph', () => {
  const types = Object.values(supergraph.schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const parts = types.flatMap((type) => {
    const fields = 'getFields' in type ? Object.values(type.getFields()) : [];
    const args = fields.flatMap((field) => ('args' in field ? field.args : []));
    const values = 'getValues' in type ? type.getValues() : [];
    const inside = [...fields, ...args, ...values].map(({ name, description }) => [
      `${type.name} ${name}`,
      description,
    ]);
    return ROOTS.includes(type.name) ? inside : [[type.name, type.description], ...inside];
  });
  expect(parts.filter(([, description]) => !description)).toEqual([]);
  expect(parts.length).toBeGreaterThan(300);
});
