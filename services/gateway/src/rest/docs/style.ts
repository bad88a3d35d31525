/** The look of the API reference: light or dark as the reader's system is, readable on a phone and on paper. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6575; --line: #dfe3ea; --page: #fff; --card: #f6f8fb;
  --link: #1859c9; --get: #14724a; --post: #1859c9; --patch: #96560a; --delete: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ef; --soft: #9aa5b5; --line: #2d3542; --page: #12161d;
  --card: #1a202a; --link: #7db0ff; --get: #57c896; --post: #7db0ff; --patch: #e6ac5c; --delete: #ff8a80; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; scroll-behavior: smooth; }
body { margin: 0; color: var(--ink); background: var(--page); font: 16px/1.55 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; } a:hover, a:focus-visible { text-decoration: underline; }
code, pre { font: .875em/1.5 ui-monospace, Menlo, Consolas, monospace; }
.layout { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 2rem 1.25rem; border-right: 1px solid var(--line); }
nav .brand { font-weight: 700; font-size: 1.15rem; color: var(--ink); }
nav h2 { margin: 1.5rem 0 .4rem; font-size: .78rem; letter-spacing: .04em; text-transform: uppercase; color: var(--soft); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: .55rem; align-items: baseline; padding: .16rem 0; color: var(--ink); font-size: .92rem; }
main { padding: 2rem clamp(1rem, 4vw, 3rem) 6rem; }
h1 { margin: 0 0 .25rem; font-size: 2rem; } h1 small { font-size: .9rem; font-weight: 400; color: var(--soft); }
.chapter { margin-top: 3rem; } .chapter > p { color: var(--soft); }
article { margin: 2rem 0; padding-top: 1.5rem; border-top: 1px solid var(--line); }
article h3 { margin: 0 0 .35rem; font-size: 1.2rem; }
h4 { margin: 1.4rem 0 .4rem; font-size: .82rem; text-transform: uppercase; letter-spacing: .04em; color: var(--soft); }
.route { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: .4rem 0 .8rem; }
.route code { overflow-wrap: anywhere; }
.method { font: 700 .72rem/1 ui-monospace, Menlo, Consolas, monospace; color: var(--tone); }
.route .method { padding: .38rem .5rem; border: 1px solid var(--tone); border-radius: .35rem; }
nav .method { width: 3.2rem; flex: none; }
.get { --tone: var(--get); } .post { --tone: var(--post); } .patch { --tone: var(--patch); } .delete { --tone: var(--delete); }
.key { font-size: .8rem; color: var(--soft); }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .45rem .8rem .45rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-size: .78rem; font-weight: 600; color: var(--soft); }
td:first-child { white-space: nowrap; } .must { color: var(--delete); font-size: .78rem; } .rule { color: var(--soft); }
pre { margin: .5rem 0; padding: .9rem 1rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
details { border-bottom: 1px solid var(--line); } details > :not(summary) { margin-left: 1.2rem; }
summary { padding: .5rem 0; cursor: pointer; } summary code { font-weight: 700; margin-right: .5rem; }
@media (max-width: 52rem) { .layout { display: block; } nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); } }
@media print { nav { display: none; } .layout { display: block; } details > * { display: block; } }
`;
