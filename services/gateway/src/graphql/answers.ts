import { LRUCache } from 'lru-cache';
import { InvalidOperation } from '../graph/executor.ts';
import type { LiveGraph } from '../graph/graph.ts';
import type { AdmittedOperation } from './admission.ts';
import { isUnavailable, type ApolloAnswers, type HttpAnswer, type HttpOperation } from './apollo-server.ts';

const TYPES_KEPT = 200;
const LONGEST_ACCEPT = 500;

/** Answers what came to `/graphql`, once it was let in or refused. */
export interface Answers {
  /** Whether the type of an answer to this header was chosen already. */
  knows(accept: string | undefined): boolean;
  answer(operation: HttpOperation): Promise<HttpAnswer>;
}

/**
 * What was let in runs straight on the executor, whose text goes out as it is; Apollo Server answers the rest. It also chooses the
 * answer's type: one header `Accept` always gets the same, so it is asked by the first request that brings it.
 */
export function createAnswers({ graph, apollo }: { graph: LiveGraph; apollo: ApolloAnswers }): Answers {
  const types = new LRUCache<string, string>({ max: TYPES_KEPT });

  const byApollo = async (operation: HttpOperation): Promise<HttpAnswer> => {
    const answer = await apollo.answer(operation);
    const { accept = '', outcome } = operation;
    const type = new Map(answer.headers).get('content-type');
    const isChosen = !(outcome instanceof InvalidOperation) && answer.status !== 406;
    if (isChosen && type !== undefined && accept.length <= LONGEST_ACCEPT) types.set(accept, type);
    return answer;
  };

  return {
    knows: (accept = '') => types.has(accept),
    answer(operation) {
      const { outcome, accept = '' } = operation;
      const type = types.get(accept);
      if (type === undefined || outcome instanceof InvalidOperation) return byApollo(operation);
      return run(graph, outcome, { call: operation.call, type });
    },
  };
}

async function run(
  graph: LiveGraph,
  { operation, variables }: AdmittedOperation,
  { call, type }: Pick<HttpOperation, 'call'> & { type: string },
): Promise<HttpAnswer> {
  const { executor } = graph.of(operation.schema);
  const { data, errors } = await executor.runForText(operation, variables, call);
  if (!errors) return { status: 200, headers: [['content-type', type]], text: `{"data":${data}}\n` };
  const text = `{"errors":${JSON.stringify(errors)},"data":${data}}\n`;
  if (data !== 'null' || !isUnavailable(errors)) return { status: 200, headers: [['content-type', type]], text };
  return {
    status: 503,
    headers: [
      ['retry-after', '1'],
      ['content-type', type],
    ],
    text,
  };
}
