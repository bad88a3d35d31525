import type { MediaType, OpenApiDocument, Operation, Reference, Response } from '../openapi/types.ts';
import { html, line, Markup, NOTHING, prose } from './html.ts';
import { fieldRow, fieldTable } from './schema-table.ts';

/** Where the page finds its looks. */
export const STYLE_PATH = '/api/docs/style.css';

interface Entry {
  path: string;
  method: string;
  operation: Operation;
}

/** The API reference as one page: everything is in it, and no script runs. */
export function renderDocs(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Entry => ({ path, method, operation })),
  );
  const chapters = document.tags.map((tag) => ({
    tag,
    members: entries.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${document.info.title} API</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <div class="layout">
          <nav aria-label="Endpoints">
            <a class="brand" href="#top">${document.info.title} API</a>
            ${chapters.map(
              ({ tag, members }) =>
                html`<h2>${tag.name}</h2>
                  <ul>
                    ${members.map(navigationItem)}
                  </ul>`,
            )}
          </nav>
          <main id="top">
            <h1>${document.info.title} API <small>${document.info.version}</small></h1>
            ${prose(document.info.description)}
            <p>
              At <code>${document.servers[0]?.url ?? ''}</code>. For machines:
              <a href="/api/openapi.json">openapi.json</a> (OpenAPI ${document.openapi}).
            </p>
            ${chapters.map(
              ({ tag, members }) =>
                html`<section class="chapter">
                  <h2>${tag.name}</h2>
                  ${prose(tag.description)} ${members.map((entry) => article(entry, document))}
                </section>`,
            )}
          </main>
        </div>
      </body>
    </html>`.text;
}

function navigationItem({ method, operation }: Entry): Markup {
  return html`<li>
    <a href="#${operation.operationId}">${methodBadge(method)}<span>${operation.summary}</span></a>
  </li>`;
}

const methodBadge = (method: string) => html`<span class="method ${method}">${method.toUpperCase()}</span>`;

function article(entry: Entry, document: OpenApiDocument): Markup {
  const { path, method, operation } = entry;
  return html`<article id="${operation.operationId}">
    <h3>${operation.summary}</h3>
    <div class="route">${methodBadge(method)}<code>${path}</code><span class="key">${accessTo(operation)}</span></div>
    ${operation.description === undefined ? NOTHING : prose(operation.description)} ${parameters(operation, document)}
    ${requestBody(operation, document)}
    <h4>Try it</h4>
    <pre>${curl(entry, document)}</pre>
    <h4>Answers</h4>
    ${Object.entries(operation.responses).map(([status, response]) => answer(status, response, document))}
  </article>`;
}

function accessTo({ security }: Operation): string {
  if (security.some((scheme) => 'backupToken' in scheme)) return 'for operators';
  return security.length > 0 ? 'needs an access token' : 'open to anybody';
}

function parameters({ parameters: list = [] }: Operation, { components }: OpenApiDocument): Markup {
  if (list.length === 0) return NOTHING;
  const rows = list.map(({ name, in: place, required, description, schema }) => {
    const described = description === undefined ? schema : { ...schema, description };
    return fieldRow({ name: place === 'query' ? `?${name}=` : name, schema: described, required }, components.schemas);
  });
  return html`<h4>Parameters</h4>
    <table>
      <thead>
        <tr>
          <th>Name</th>
          <th>Type</th>
          <th>Rules</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>`;
}

function requestBody({ requestBody: body }: Operation, { components }: OpenApiDocument): Markup {
  const media = body?.content['application/json'];
  if (!media) return NOTHING;
  return html`<h4>Body</h4>
    ${fieldTable(media.schema, components.schemas)}`;
}

/** What anybody can paste into a shell; capitals are to be filled in. */
function curl({ path, method, operation }: Entry, { servers }: OpenApiDocument): string {
  const example = operation.requestBody?.content['application/json']?.example;
  const isForOperators = operation.security.some((scheme) => 'backupToken' in scheme);
  const query = operation.parameters?.some(({ name, in: place }) => place === 'query' && name === 'file')
    ? '?file=FILE'
    : '';
  const words = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} ${servers[0]?.url ?? ''}${path.replace('{id}', 'TASK_ID').replace('{file}', 'FILE')}${query}`,
    ...(operation.security.length > 0
      ? [`-H 'authorization: Bearer ${isForOperators ? 'BACKUP_TOKEN' : 'ACCESS_TOKEN'}'`]
      : []),
    ...(operation.requestBody?.content['application/gzip'] ? ['--upload-file FILE'] : []),
    ...(example === undefined ? [] : ["-H 'content-type: application/json'", `-d '${JSON.stringify(example)}'`]),
  ];
  return words.join(' \\\n  ');
}

function answer(status: string, given: Response | Reference, document: OpenApiDocument): Markup {
  const { components } = document;
  const response = '$ref' in given ? components.responses[given.$ref.split('/').at(-1) ?? ''] : given;
  if (!response) return NOTHING;
  const media = response.content?.['application/json'];
  return html`<details${new Markup(status.startsWith('2') ? ' open' : '')}>
<summary><code>${status}</code>${line(response.description)}</summary>
${media ? example(media) : NOTHING}
${status.startsWith('2') ? headerTable(response, document) : NOTHING}
${media && status.startsWith('2') ? fieldTable(media.schema, components.schemas) : NOTHING}
</details>`;
}

function headerTable({ headers = {} }: Response, { components }: OpenApiDocument): Markup {
  const rows = Object.entries(headers).map(([name, given]) => {
    const header = '$ref' in given ? components.headers[given.$ref.split('/').at(-1) ?? ''] : given;
    return html`<tr>
      <td><code>${name}</code></td>
      <td>${line(header?.description ?? '')}</td>
    </tr>`;
  });
  return html`<table>
    <thead>
      <tr>
        <th>Header</th>
        <th>Meaning</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

const example = (media: MediaType) => html`<pre>${JSON.stringify(media.example, null, 2)}</pre>`;
