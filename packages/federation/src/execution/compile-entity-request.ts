import { failing, failure, operationOf, serviceError, variablesReader } from './subgraph-request.ts';
import type { FetchDeps, Step } from './compile-fetch.ts';
import { requestsSameFields, joinOperations } from './joined-operation.ts';
import { compileEntityLookup, type RequestedEntities, type EntityLookup } from './entity-lookup.ts';
import type { PlannedFetch } from './plan-fetches.ts';
import type { AnswerError, PlanRun, SubgraphAnswer } from './run.ts';

/** A lookup, and its response key and variable in the operation. */
interface Part {
  lookup: EntityLookup;
  key: string;
  /** The name of the variable for the representations. */
  variable: string;
}

/** One `_entities` request, which may combine several lookups. */
export function compileEntityRequest<Context>(fetches: readonly PlannedFetch[], deps: FetchDeps): Step<Context> {
  const groups = groupEqualFetches(fetches);
  const [first, ...others] = groups;
  if (!first) throw new Error('A request of the plan has no fetch.');
  const joined = joinOperations([first.node, ...others.map(({ node }) => node)]);
  const operation = operationOf(first.node, joined.text);
  const usages = new Set(groups.flatMap(({ node }) => node.variableUsages ?? []));
  const variablesOf = variablesReader([...usages], deps.renamed);
  const parts = groups.map(({ node, same }, index): Part => {
    const { key, variable } = joined.parts[index] ?? { key: '', variable: '' };
    return { lookup: compileEntityLookup(same, node, deps), key, variable };
  });
  const separate = others.length > 0 ? groups.map(({ same }) => compileEntityRequest<Context>(same, deps)) : [];

  const fetch = async (run: PlanRun<Context>, gathered: readonly RequestedEntities[]) => {
    const variables = variablesOf(run.variables);
    for (const [index, { variable }] of parts.entries()) variables[variable] = gathered[index]?.representations ?? [];
    const response = await run.ask({ operation, variables }, run.context);
    // One of the joined lookups failed as a whole and took the others with it, so run each on its own.
    if (separate.length > 0 && hasFailedAsWhole(response)) await Promise.all(separate.map((step) => step(run)));
    else receive(response, gathered, run);
  };

  const hasFailedAsWhole = ({ data, errors }: SubgraphAnswer) =>
    !data && errors?.some(({ path }) => parts.some(({ key }) => key === path?.[0]));

  const receive = (answer: SubgraphAnswer, gathered: readonly RequestedEntities[], run: PlanRun<Context>) => {
    const { data } = answer;
    const errors = answer.errors ?? [];
    if (errors.length > 0) report(errors, gathered, run);
    for (const [index, { lookup, key }] of parts.entries()) {
      const requested = gathered[index];
      if (!requested || requested.representations.length === 0) continue;
      const entities = data?.[key];
      if (Array.isArray(entities) && entities.length === requested.representations.length)
        lookup.receive(entities, requested, run.room);
      else if (Array.isArray(entities) || errors.every((error) => belongsToOther(error, key))) {
        const message = `The service "${operation.service}" did not return all requested objects.`;
        run.errors.push(failure(operation, message));
      }
    }
  };

  const partOf = ({ path }: AnswerError) => parts.findIndex(({ key }) => key === path?.[0]);
  const belongsToOther = (error: AnswerError, key: string) => (parts[partOf(error)]?.key ?? key) !== key;

  const report = (errors: readonly AnswerError[], gathered: readonly RequestedEntities[], run: PlanRun<Context>) => {
    const located = parts.map(({ lookup }, index) => {
      const requested = gathered[index];
      return (
        requested &&
        lookup.locate(
          errors.filter((error) => partOf(error) === index),
          requested,
          run,
        )
      );
    });
    for (const error of errors) {
      const paths = located[partOf(error)]?.(error) ?? [];
      if (paths.length === 0) run.errors.push(serviceError(error, operation, undefined));
      else for (const path of paths) run.errors.push(serviceError(error, operation, path));
    }
  };

  return failing(operation, async (run) => {
    const gathered = parts.map(({ lookup }) => lookup.gather(run));
    if (gathered.some(({ representations }) => representations.length > 0)) await fetch(run, gathered);
  });
}

/** Groups fetches that request the same fields. */
function groupEqualFetches(fetches: readonly PlannedFetch[]): { node: PlannedFetch['node']; same: PlannedFetch[] }[] {
  const groups: { node: PlannedFetch['node']; same: PlannedFetch[] }[] = [];
  for (const fetch of fetches) {
    const known = groups.find(({ node }) => requestsSameFields(node, fetch.node));
    if (known) known.same.push(fetch);
    else groups.push({ node: fetch.node, same: [fetch] });
  }
  return groups;
}
