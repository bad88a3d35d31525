import type { CustomFetch } from 'openid-client';

/** Metadata, keys and tokens take a few KiB. */
const MOST_BYTES = 1024 * 1024;

/** Fails answers that are larger than anything a provider needs to say. Counts bytes after decompression. */
export const boundedFetch: CustomFetch = async (url, options) => {
  const { body, status, statusText, headers } = await fetch(url, options);
  return new Response(body?.pipeThrough(bounded()) ?? null, { status, statusText, headers });
};

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) controller.error(new Error('The answer is too large.'));
      else controller.enqueue(chunk);
    },
  });
}
