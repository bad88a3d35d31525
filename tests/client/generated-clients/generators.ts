import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The generators and the packages of their clients are installed here, once. */
const CACHE = join(import.meta.dirname, '../../../.cache/generated-clients');
const OPENAPI_GENERATOR = '7.25.0';
const NODE_PACKAGES = ['orval@8.38.0', '@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3'];
const PYTHON_PACKAGES = 'urllib3==2.7.0 python-dateutil==2.9.0.post0 pydantic==2.12.5 typing-extensions==4.15.0'.split(
  ' ',
);
const MAVEN_COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1';

/**
 * Generates a client from the `openapi.json` of a folder and compiles it with a program that signs up as `EMAIL`,
 * creates a task, prints the titles of the completed ones, and stores the archive `ARCHIVE` as the file `archive`.
 * Returns the command that runs it.
 */
export type Build = (folder: string) => string[];

function run(cwd: string, file: string, ...args: string[]): void {
  try {
    execFileSync(file, args, { cwd, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }; // a failed child's output
    throw new Error(`${file} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

function openApiGenerator(folder: string, generator: string, ...args: string[]): void {
  mkdirSync(CACHE, { recursive: true });
  const name = `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`;
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`;
  if (!existsSync(join(CACHE, name)))
    run(CACHE, 'mvn', '-q', '-B', `${MAVEN_COPY}:copy`, `-DoutputDirectory=${CACHE}`, artifact);
  const generate = `generate -i openapi.json -g ${generator} -o client`.split(' ');
  run(folder, 'java', '-jar', join(CACHE, name), ...generate, ...args);
}

const BEGIN = `import { writeFileSync } from 'node:fs';
const { TASKMESH_URL: url, EMAIL: email, ARCHIVE: archive } = process.env;
const account = { email, password: 'a long and private phrase', name: 'Ada' };
const task = { title: 'Water the plants', completed: true, dueDate: null };
const store = async (blob: Blob) => writeFileSync('archive', new Uint8Array(await blob.arrayBuffer()));
const main = async () => {`;

const NODE_TYPES = `declare module 'node:fs' { export function writeFileSync(name: string, bytes: Uint8Array): void }
declare const process: { env: Record<string, string> };
`;

/** Compiles `main.ts` with a client made by `generate`. */
const typescript =
  (generate: (folder: string) => void, main: string): Build =>
  (folder) => {
    if (!existsSync(join(CACHE, 'node_modules'))) {
      mkdirSync(CACHE, { recursive: true });
      writeFileSync(join(CACHE, 'package.json'), '{}');
      run(CACHE, 'npm', 'install', '--no-audit', '--no-fund', ...NODE_PACKAGES);
    }
    symlinkSync(join(CACHE, 'node_modules'), join(folder, 'node_modules'));
    generate(folder);
    writeFileSync(join(folder, 'main.ts'), `${BEGIN}${main}\n};\nvoid main();\n`);
    writeFileSync(join(folder, 'node.d.ts'), NODE_TYPES);
    const options =
      '--strict --skipLibCheck --target es2022 --module commonjs --lib es2022,dom,dom.iterable --outDir built';
    run(folder, 'node_modules/.bin/tsc', ...options.split(' '), 'main.ts', 'node.d.ts');
    return [process.execPath, 'built/main.js'];
  };

const fetchClient = typescript(
  (folder) => openApiGenerator(folder, 'typescript-fetch'),
  `
    const { AccountsApi, BackupsApi, Configuration, TasksApi } = await import('./client/index');
    const at = { basePath: url };
    const { accessToken } = await new AccountsApi(new Configuration(at)).signUp({ signUp: account });
    const tasks = new TasksApi(new Configuration({ ...at, accessToken }));
    await tasks.createTask({ taskCreate: { ...task } });
    for (const { title } of (await tasks.listTasks({ completed: true })).data) console.log(title);
    await store(await new BackupsApi(new Configuration(at)).downloadBackup({ file: archive }));`,
);

const orvalClient = typescript(
  (folder) => {
    const output = { target: './client/api.ts', client: 'fetch', baseUrl: 'http://taskmesh' };
    const config = { api: { input: './openapi.json', output } };
    writeFileSync(join(folder, 'orval.config.mjs'), `export default ${JSON.stringify(config)};\n`);
    run(folder, 'node_modules/.bin/orval');
  },
  `
    const { createTask, downloadBackup, listTasks, signUp } = await import('./client/api');
    const original = fetch;
    globalThis.fetch = (to, init) => original(String(to).replace('http://taskmesh', url), init);
    const { data, status } = await signUp(account);
    if (status !== 201) throw new Error(data.message);
    const options = { headers: { authorization: \`Bearer \${data.access_token}\` } };
    await createTask(task, options);
    const list = await listTasks({ completed: true }, options);
    if (list.status === 200) for (const { title } of list.data.data) console.log(title);
    const file = await downloadBackup(archive);
    if (file.status === 200) await store(file.data);`,
);

const heyApiClient = typescript(
  (folder) => run(folder, 'node_modules/.bin/openapi-ts', '-i', 'openapi.json', '-o', 'client'),
  `
    const { createTask, downloadBackup, listTasks, signUp } = await import('./client/index');
    const { client } = await import('./client/client.gen');
    client.setConfig({ baseUrl: url });
    const { data } = await signUp({ body: account, throwOnError: true });
    client.setConfig({ auth: ({ scheme, key }) => (key === 'accessToken' || scheme === 'bearer' ? data.access_token : undefined) });
    await createTask({ body: task, throwOnError: true });
    const list = await listTasks({ query: { completed: true }, throwOnError: true });
    for (const { title } of list.data.data) console.log(title);
    client.setConfig({ auth: () => undefined });
    await store((await downloadBackup({ path: { file: archive }, throwOnError: true })).data);`,
);

function javaClient(folder: string): string[] {
  openApiGenerator(folder, 'java', '--library', 'native');
  const client = join(folder, 'client');
  writeFileSync(
    join(client, 'src/main/java/Main.java'),
    `import java.nio.file.*;
    import org.openapitools.client.ApiClient;
    import org.openapitools.client.api.*;
    import org.openapitools.client.model.*;
    class Main {
      static ApiClient client() {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("TASKMESH_URL"));
        return client;
      }
      public static void main(String[] args) throws Exception {
        SignUp account = new SignUp().email(System.getenv("EMAIL")).password("a long and private phrase").name("Ada");
        Session session = new AccountsApi(client()).signUp(account);
        ApiClient user = client();
        user.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + session.getAccessToken()));
        TasksApi tasks = new TasksApi(user);
        tasks.createTask(new TaskCreate().title("Water the plants").completed(true), null);
        for (var task : tasks.listTasks(true, null, null, null, null, null, null).getData()) System.out.println(task.getTitle());
        Files.copy(new BackupsApi(client()).downloadBackup(System.getenv("ARCHIVE")).toPath(), Path.of("archive"));
      }
    }`,
  );
  run(client, 'mvn', '-q', '-B', 'compile', `${MAVEN_COPY}:copy-dependencies`, '-DoutputDirectory=lib');
  return ['java', '-cp', 'client/target/classes:client/lib/*', 'Main'];
}

function pythonClient(folder: string): string[] {
  openApiGenerator(folder, 'python');
  const python = join(CACHE, 'python/bin/python');
  if (!existsSync(python)) {
    run(CACHE, 'python3', '-m', 'venv', 'python');
    run(CACHE, python, '-m', 'pip', 'install', '--quiet', ...PYTHON_PACKAGES);
  }
  writeFileSync(
    join(folder, 'client/main.py'),
    `import os
from openapi_client import AccountsApi, ApiClient, BackupsApi, Configuration, SignUp, TaskCreate, TasksApi
host = os.environ["TASKMESH_URL"]
anyone = ApiClient(Configuration(host=host))
account = SignUp(email=os.environ["EMAIL"], password="a long and private phrase", name="Ada")
session = AccountsApi(anyone).sign_up(account)
tasks = TasksApi(ApiClient(Configuration(host=host, access_token=session.access_token)))
tasks.create_task(TaskCreate(title="Water the plants", completed=True, due_date=None))
for task in tasks.list_tasks(completed=True).data: print(task.title)
with open("archive", "wb") as file: file.write(BackupsApi(anyone).download_backup(os.environ["ARCHIVE"]))
`,
  );
  return [python, 'client/main.py'];
}

export const GENERATORS: { name: string; needs: string[]; build: Build }[] = [
  { name: 'openapi-generator typescript-fetch', needs: ['java', 'mvn'], build: fetchClient },
  { name: 'openapi-generator java', needs: ['javac', 'mvn'], build: javaClient },
  { name: 'openapi-generator python', needs: ['java', 'mvn', 'python3'], build: pythonClient },
  { name: 'orval', needs: [], build: orvalClient },
  { name: 'hey-api', needs: [], build: heyApiClient },
];
