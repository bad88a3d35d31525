import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { parentPort, workerData } from 'node:worker_threads';
import type { ExportJob, ExportOutcome, OtlpTarget } from './export-thread.ts';

/** OpenTelemetry's exporter for bodies that are serialized already: sends them, and retries temporary failures. */
const { url, contentType } = workerData as OtlpTarget; // set by `createExportThread`
// eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else reads headers, certificates and time-outs from the environment
const options = convertLegacyHttpOptions({ url }, 'TRACES', 'v1/traces', { 'Content-Type': contentType });
/** The collector's answer to the export that ends next: the exporter reads it right before it tells the outcome. */
let answer: Uint8Array | undefined;
const asItIs = {
  serializeRequest: (body: Uint8Array) => body,
  deserializeResponse: (bytes: Uint8Array) => ((answer = bytes), {}),
};
const countsNothing = { name: 'span', countItems: () => 0 } as const;
const exporter = new OTLPExporterBase<Uint8Array>(
  createOtlpHttpExportDelegate(options, asItIs, 'otlp_http_span_exporter', countsNothing, undefined),
);

parentPort?.on('message', ({ id, body }: ExportJob) => {
  exporter.export(body, ({ error }) => {
    const { code: named } = (error ?? {}) as { code?: unknown }; // absent for what was tried in vain
    const code = named === undefined ? undefined : String(named);
    const outcome: ExportOutcome = error
      ? { id, failure: { message: error.message, code } }
      : { id, ...(answer && { answer }) };
    answer = undefined;
    parentPort?.postMessage(outcome);
  });
});
