'use strict';
// Runs in the browser. The token comes in the URL's fragment, which servers never see, and is kept in the form until that is
// submitted. The form configures the script: `data-action` is where to send the fields, `data-fields` their names, the
// token's first.

const byId = (id) => document.getElementById(id);
const { action, fields } = byId('form').dataset;
const FIELDS = fields.split(' ');

/**
 * The link fills in the token; without one it can be typed. The token is removed from the address at once, to keep it out of
 * bookmarks and screenshots. So after a reload the link must be opened again.
 */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  history.replaceState(history.state, '', location.pathname);
  byId('token').value = token;
  byId('token-field').hidden = token !== '';
  byId(token === '' ? 'token' : (FIELDS[1] ?? 'send')).focus();
  passTokenOn();
}

/** Signed-in users can continue in their account, which also reads the token from the fragment. */
function passTokenOn() {
  byId('in-account')?.setAttribute('href', `/#/account?${new URLSearchParams({ token: typedToken() })}`);
}

function show(id, text) {
  byId(`${id}-error`).textContent = text;
  if (!FIELDS.includes(id)) return;
  byId(id).setAttribute('aria-invalid', String(text !== ''));
  if (text !== '' && id === 'token') byId('token-field').hidden = false;
}

/** Messages may begin with the name of a field. */
const asSentence = (message) => message.charAt(0).toUpperCase() + message.slice(1);

/** Errors of a field are shown next to it, all others below the form. */
function showRefusal(body) {
  const details = body?.error?.details ?? [];
  const textOf = (field) =>
    details
      .filter(({ path }) => path === field)
      .map(({ message }) => asSentence(message))
      .join(' ');
  for (const field of FIELDS) show(field, textOf(field));
  const others = details.filter(({ path }) => !FIELDS.includes(path)).map(({ message }) => message);
  if (others.length > 0 || details.length === 0)
    show('form', others.join(' ') || body?.message || 'That did not work. Please try again.');
  const wrong = FIELDS.find((field) => textOf(field) !== '');
  if (wrong) byId(wrong).focus();
}

function showDone(body) {
  byId('form').hidden = true;
  byId('form').reset();
  byId('done').textContent = body?.message || 'Done.';
  byId('done').hidden = false;
  byId('done').focus();
}

/** Whether a required field is empty. Shows an error next to it if so. */
function isMissing(id) {
  const { required, value, dataset } = byId(id);
  const isEmpty = required && value === '';
  if (isEmpty) show(id, dataset.missing);
  return isEmpty;
}

const typedToken = () => byId('token').value.trim();
const valuesOf = (names) => Object.fromEntries(names.map((name) => [name, byId(name).value]));

async function send() {
  for (const id of [...FIELDS, 'form']) show(id, '');
  const missing = FIELDS.find(isMissing);
  if (missing) return void byId(missing).focus();
  byId('send').disabled = true;
  try {
    const response = await fetch(action, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ ...valuesOf(FIELDS), token: typedToken() }),
    });
    const body = await response.json().catch(() => undefined);
    if (response.ok) showDone(body);
    else showRefusal(body);
  } catch {
    show('form', 'The server could not be reached. Please try again.');
  } finally {
    byId('send').disabled = false;
  }
}

byId('form').addEventListener('submit', (event) => {
  event.preventDefault();
  void send();
});
byId('show').addEventListener('click', ({ currentTarget }) => {
  const isShown = currentTarget.ariaPressed === 'true';
  currentTarget.ariaPressed = String(!isShown);
  byId('password').type = isShown ? 'password' : 'text';
});
byId('token').addEventListener('input', passTokenOn);
// Opening another link in the same tab changes only the fragment.
window.addEventListener('hashchange', takeToken);
takeToken();
