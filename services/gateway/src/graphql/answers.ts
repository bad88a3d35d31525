import { InvalidOperation } from '../graph/executor.ts';
import type { LiveGraph } from '../graph/graph.ts';
import type { AdmittedOperation } from './admission.ts';
import { retryStatusOf, type ApolloAnswers, type HttpAnswer, type HttpOperation } from './apollo-server.ts';

/** Answers what came to `/graphql`, once it was admitted or refused. */
export type AnswerOperation = (operation: HttpOperation) => Promise<HttpAnswer>;

/** Runs admitted operations straight on the executor and sends its text as it is; Apollo Server answers refused ones. */
export function createAnswers({ graph, apollo }: { graph: LiveGraph; apollo: ApolloAnswers }): AnswerOperation {
  return (operation) => {
    const { outcome, ...request } = operation;
    return outcome instanceof InvalidOperation ? apollo.answer(operation) : run(graph, outcome, request);
  };
}

async function run(
  graph: LiveGraph,
  { operation, variables }: AdmittedOperation,
  { call, type }: Pick<HttpOperation, 'call' | 'type'>,
): Promise<HttpAnswer> {
  const { executor } = graph.of(operation.schema);
  const { data, errors } = await executor.runForText(operation, variables, call);
  const headers: [string, string][] = [['content-type', type]];
  if (!errors) return { status: 200, headers, body: `{"data":${data}}\n` };
  const status = data === 'null' ? retryStatusOf(errors) : undefined;
  if (status) headers.unshift(['retry-after', '1']);
  return { status: status ?? 200, headers, body: `{"errors":${JSON.stringify(errors)},"data":${data}}\n` };
}
