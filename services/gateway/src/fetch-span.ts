import type { SpanDescription } from '@taskmesh/telemetry';

/** A request to a service over HTTP. In one process the service's own span says it all. */
export const fetchSpan = (service: string): SpanDescription => ({
  name: `fetch ${service}`,
  kind: 'client',
  attributes: { 'service.peer.name': service },
});
