import type { FetchNode } from '@apollo/query-planner';
import { runSingleFetch } from './engines.ts';
import type { GraphSources, OperationRun } from './operation.ts';

it.each(['__proto__', 'constructor', 'toString'])(
  'passes on a variable named %s, and none that is not given',
  async (name) => {
    const asked: unknown[] = [];
    const ask = async (request: unknown) => {
      asked.push(JSON.parse(JSON.stringify(request)));
      return { data: {} };
    };
    const services = { tasks: { ask } } as unknown as GraphSources; // all that is used
    const fetch = {
      serviceName: 'tasks',
      operation: '{ x }',
      variableUsages: [name, 'valueOf'],
    } as unknown as FetchNode;
    const variables = JSON.parse(`{"${name}": 1}`) as Record<string, unknown>;
    await runSingleFetch(fetch, services, variables, {} as OperationRun);
    expect(JSON.stringify(asked)).toContain(`"variables":{"${name}":1}`);
  },
);
