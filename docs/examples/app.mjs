import { addTask, authenticate, readTasks, signOut } from './taskmesh.mjs';

const element = (id) => document.getElementById(id);
const account = element('account');
const newTask = element('new-task');
/** By id: what the list shows. */
const tasks = new Map();
let session;
let stop = () => {};

for (const [name, value] of new URLSearchParams(location.search))
  if (account.elements[name]) account.elements[name].value = value;

account.addEventListener('submit', (event) => {
  event.preventDefault();
  const { url, email, password, protocol } = Object.fromEntries(new FormData(account));
  attempt(async () => {
    const token = await authenticate(url, event.submitter.value, { email, password });
    session = { url, token, protocol };
    await begin();
  });
});

newTask.addEventListener('submit', (event) => {
  event.preventDefault();
  // What was added is shown when the feed tells of it, like everything else.
  attempt(async () => {
    await addTask(session, new FormData(newTask).get('title'));
    newTask.reset();
  });
});

// The feed ends by itself when the session does.
element('sign-out').addEventListener('click', () => attempt(() => signOut(session)));

/** Reads the list, then follows its changes from exactly there. */
async function begin() {
  await stop();
  const list = await readTasks(session);
  tasks.clear();
  for (const task of list.tasks) tasks.set(task.id, task);
  show();
  element('changes').replaceChildren();
  newTask.hidden = element('live').hidden = false;
  const { follow } = await import(`./feeds/${session.protocol}.mjs`);
  let isOver = false;
  const unlessOver = (listener) => (value) => isOver || listener(value);
  const end = follow({
    ...session,
    after: list.cursor,
    onChange: unlessOver(onChange),
    onState: unlessOver(state),
    onEnd: unlessOver(onEnd),
  });
  stop = () => {
    isOver = true;
    return end();
  };
}

function onChange({ kind, task }) {
  if (kind === 'DELETE') tasks.delete(task.id);
  else tasks.set(task.id, task);
  show();
  element('changes').append(item(`${kind} ${task.title}`));
}

function onEnd(code) {
  // The tasks were restored from a backup, or the page was away for too long: the list is read anew.
  if (code === 'CURSOR_EXPIRED') return attempt(begin);
  stop();
  state(code === 'UNAUTHENTICATED' ? 'signed out' : code);
}

function show() {
  const newest = [...tasks.values()].sort((one, other) => (one.id < other.id ? 1 : -1)); // ids grow with time
  element('tasks').replaceChildren(...newest.map(({ title, completed }) => item(title, completed ? 'done' : '')));
}

function item(text, className = '') {
  const made = document.createElement('li');
  made.textContent = text;
  made.className = className;
  return made;
}

function state(text) {
  element('state').value = text;
}

/** What went wrong is shown until something else is tried. */
function attempt(work) {
  element('error').value = '';
  work().catch((error) => (element('error').value = error.message));
}
