import { atEnd, listen, makeTempDir } from '@taskmesh/testing';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

interface Server {
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

/** The library has no types. */
const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => Server;

const BUCKET = 'archives';

/** Starts an S3 server on a free port, until the end of the test or file. It can be stopped and started again, with the same objects. */
export async function startS3Server() {
  const directory = makeTempDir();
  let port = 0;
  let server: Server | undefined;
  const start = async () => {
    server = new S3rver({ port, address: '127.0.0.1', silent: true, directory, configureBuckets: [{ name: BUCKET }] });
    port = (await server.run()).port;
  };
  const stop = async () => {
    await server?.close();
    server = undefined;
  };
  await start();
  atEnd(stop);
  return {
    /** Returns a value for BACKUP_S3_URL. */
    url: (prefix = '', key = 'S3RVER:S3RVER') => `s3://${key}@${BUCKET}/${prefix}?endpoint=http://127.0.0.1:${port}`,
    start,
    stop,
  };
}

/**
 * Starts a proxy for a bucket that adds what the server lacks: listing and aborting uploads, and conditional writes. It is
 * closed at the end of the test or file.
 */
export async function startS3Proxy(behind: string) {
  const { port } = new URL(new URL(behind).searchParams.get('endpoint') ?? '');
  let lost: RegExp | undefined;
  let left = 0;
  let held: RegExp | undefined;
  let overtaking: { pattern: RegExp; make: () => Promise<unknown>; begun?: Promise<unknown> } | undefined;

  const pass = async (incoming: IncomingMessage, response: ServerResponse) => {
    const line = `${incoming.method} ${incoming.url}`;
    proxy.asked.push(line);
    if (held?.test(line)) return;
    if (incoming.method === 'DELETE' && line.includes('uploadId=')) {
      incoming.resume();
      response.writeHead(204).end();
      return;
    }
    if (incoming.method === 'GET' && /\?(.*&)?uploads/.test(line)) {
      incoming.resume();
      const marker = new URL(line.slice('GET '.length), 'http://bucket').searchParams.get('key-marker');
      const from = proxy.uploads.findIndex(([key]) => key === marker) + 1;
      const page = proxy.uploads.slice(from, from + 3);
      const uploads = page.map(([key, initiated], index) => {
        const id = `<Key>${key}</Key><UploadId>${from + index + 1}</UploadId>`;
        return `<Upload>${id}<Initiated>${initiated}</Initiated></Upload>`;
      });
      const more = `<IsTruncated>true</IsTruncated><NextKeyMarker>${page.at(-1)?.[0]}</NextKeyMarker>`;
      const rest = from + page.length < proxy.uploads.length ? more : '';
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<ListMultipartUploadsResult>${rest}${uploads.join('')}</ListMultipartUploadsResult>`);
      return;
    }
    const isLost = lost?.test(line) === true && left-- > 0;
    const { method, url: path, headers } = incoming;
    if (overtaking?.pattern.test(line)) {
      await (overtaking.begun ??= overtaking.make());
      if (headers['if-none-match'] === '*') {
        if (isLost) incoming.socket.destroy();
        else refuse(response);
        return;
      }
    }
    const onward = request(
      { agent: false, host: '127.0.0.1', port, method, path, headers },
      (upstream: IncomingMessage) => {
        if (isLost) upstream.resume().once('end', () => incoming.socket.destroy());
        else if (headers['if-match'] && headers['if-match'] !== upstream.headers.etag) refuse(response);
        else upstream.pipe(response.writeHead(upstream.statusCode ?? 500, upstream.headers));
      },
    );
    onward.on('error', () => incoming.socket.destroy());
    response.once('close', () => onward.destroy()); // the client may have disconnected
    incoming.pipe(onward);
  };
  const server = createServer((incoming, response) => void pass(incoming, response));
  const { port: own } = await listen(server);
  const proxy = {
    /** The URL of the bucket behind it, but with the address of this one. */
    url: behind.replace(`127.0.0.1:${port}`, `127.0.0.1:${own}`),
    /** The requests so far, in the form `POST /bucket/key?uploads`. */
    asked: [] as string[],
    /** The unfinished multipart uploads of the bucket: their keys and start times. */
    uploads: [] as [key: string, initiated: string][],
    /** Loses the responses to such requests from now on, although the real server handles them. */
    lose: (pattern: RegExp, times = Infinity) => void ([lost, left] = [pattern, times]),
    /** Leaves such requests without a response from now on. */
    hold: (pattern: RegExp) => void (held = pattern),
    /** Creates the object just before the next such request arrives, so that a request that requires it to be missing fails. */
    overtake: (pattern: RegExp, make: () => Promise<unknown>) => void (overtaking = { pattern, make }),
  };
  return proxy;
}

function refuse(response: ServerResponse): void {
  response
    .writeHead(412, { 'content-type': 'application/xml', connection: 'close' })
    .end('<Error><Code>PreconditionFailed</Code></Error>');
}
