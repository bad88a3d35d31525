import { activeSpan, type SpanDescription } from '@taskmesh/service';

/** A request to a service over HTTP. In one process the service's own span says it all, unless nobody waits for it any more. */
export const fetchSpan = (service: string): SpanDescription => ({
  name: `fetch ${service}`,
  kind: 'client',
  attributes: { 'service.peer.name': service },
});

/** For a call in one process: a span only if it fails. The service's own may end long after, and well. */
export function inFetchSpanIfFailed<Result>(service: string, work: () => Promise<Result>): Promise<Result> {
  const parent = activeSpan();
  if (!parent) return work();
  const startMs = Date.now();
  return work().catch((error: unknown) => {
    parent.child({ ...fetchSpan(service), startMs }).end(error);
    throw error;
  });
}
