import {
  defaultFieldResolver,
  isIntrospectionType,
  isObjectType,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from 'graphql';
import { isPromise } from '../execution/run.ts';
import type { FieldTrace } from './field-trace.ts';

type Resolve = GraphQLFieldResolver<unknown, { trace?: FieldTrace }>;

/** Changes a schema, so that each of its fields tells the `trace` of its context when it begins and ends. */
export function traceFields(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) field.resolve = traced(field.resolve ?? defaultFieldResolver);
  }
  return schema;
}

function traced(resolve: Resolve): Resolve {
  return (source, args, context, info) => {
    const end = context.trace?.begin(info);
    let value: unknown;
    try {
      value = resolve(source, args, context, info);
      return value;
    } finally {
      const awaited = awaitedIn(value);
      if (awaited.length > 0) void Promise.allSettled(awaited).then(end);
      else end?.();
    }
  };
}

/** Entities are a list of promises. */
function awaitedIn(value: unknown): PromiseLike<unknown>[] {
  return (Array.isArray(value) ? value : [value]).filter(isPromise);
}
