export { errorTypeOf } from './error-type.ts';
export {
  activeSpan,
  inSpan,
  logFields,
  outside,
  within,
  workIn,
  type Attributes,
  type Span,
  type SpanDescription,
} from './span.ts';
export { NO_TRACING, type Tracing } from './tracing.ts';
export { parseTraceparent } from './traceparent.ts';
export type { SdkOptions, StartedSdk } from './sdk.ts';
