export interface RequestParts {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Allowed in a path or a header's value: nothing that could end the line. */
const PATH = /^\/[\x21-\x7e]*$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** The text of a POST request. @throws TypeError for a path or a header that could be misread */
export function writeRequest({ host }: URL, { path, headers, body }: RequestParts): { text: string; isAscii: boolean } {
  if (!PATH.test(path)) throw new TypeError('This is no path of a request.');
  let head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (!VALUE.test(value)) throw new TypeError(`The header ${name} has characters that no header may have.`);
    head += `${name}: ${value}\r\n`;
  }
  const bytes = Buffer.byteLength(body);
  return { text: `${head}content-length: ${bytes}\r\n\r\n${body}`, isAscii: bytes === body.length };
}
