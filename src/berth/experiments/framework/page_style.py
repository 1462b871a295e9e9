"""How the report looks: on paper, on a phone, by day and by night."""

STYLE = """
:root { --ink: #1a1a1a; --soft: #5c5c5c; --line: #d9d9d9; --paper: #ffffff; --pale: #f5f5f3; --link: #00578a;
  --good: #0a6b3d; --good-back: #dff3e7; --half: #7a4f00; --half-back: #fdf0d0;
  --bad: #a02020; --bad-back: #fbe3e0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e3; --soft: #a8a5a0; --line: #45433f;
  --paper: #1b1a19; --pale: #262523; --link: #7cc0ee; --good: #8fe0b4; --good-back: #123c28;
  --half: #f5d080; --half-back: #453408; --bad: #ffb0a8; --bad-back: #4d1a17; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 24px 20px 80px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .4em 0 .3em; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .2em; }
h3 { font-size: 1rem; margin: 1.4em 0 .4em; }
a { color: var(--link); }
section.experiment { border-top: 2px solid var(--line); margin-top: 48px; padding-top: 24px; }
.soft { color: var(--soft); } .small { font-size: .875rem; }
.notice { border-left: 4px solid var(--half); background: var(--half-back); color: var(--half);
  padding: .6em .9em; margin: 1em 0; overflow-wrap: anywhere; }
.notice.bad { border-color: var(--bad); background: var(--bad-back); color: var(--bad); }
code { font: .875em/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, monospace; }
code.command { display: block; background: var(--pale); border: 1px solid var(--line); border-radius: 4px;
  padding: .45em .7em; overflow-wrap: anywhere; }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: .25em 1.2em; margin: 1em 0; }
dl.facts dt { color: var(--soft); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; }
th, td { text-align: left; vertical-align: top; padding: .45em .7em .45em 0;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); } td.number, th.number { text-align: right; white-space: nowrap; }
.verdict { display: inline-block; white-space: nowrap; border-radius: 4px; padding: .05em .5em;
  font-weight: 600; font-size: .875rem; }
.reproduced { color: var(--good); background: var(--good-back); }
.ordering-only { color: var(--half); background: var(--half-back); }
.not-reproduced { color: var(--bad); background: var(--bad-back); }
td.reason { color: var(--soft); }
.beside { display: flex; flex-wrap: wrap; gap: 16px 28px; margin: 1em 0; }
figure { margin: 0; flex: 3 1 800px; min-width: 0; }
p, dl.facts, .command { max-width: 960px; }
figure img { width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line);
  border-radius: 4px; }
figcaption { margin: .5em 0; }
aside { flex: 1 1 280px; background: var(--pale); border-radius: 4px; padding: .3em 1em 1em;
  align-self: flex-start; }
aside h3 { margin-top: .7em; } aside dl { margin: 0; columns: 250px; column-gap: 28px; }
aside div { break-inside: avoid; padding-bottom: .6em; }
aside dt { font-weight: 600; overflow-wrap: anywhere; }
aside dd { margin: 0; } details { margin: .8em 0; } summary { cursor: pointer; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 720px) {
  table.stacked thead { display: none; } table.stacked tr { display: block; padding: .6em 0;
    border-bottom: 1px solid var(--line); }
  table.stacked td { display: block; border: 0; padding: .1em 0; text-align: left; white-space: normal; }
  table.stacked td[data-label]::before { content: attr(data-label) ": "; color: var(--soft); }
  dl.facts { grid-template-columns: 1fr; } dl.facts dt { margin-top: .4em; }
}
@media print {
  :root { --ink: #000; --soft: #444; --line: #bbb; --paper: #fff; --pale: #f5f5f3; --link: #000;
    --good: #0a6b3d; --good-back: #dff3e7; --half: #7a4f00; --half-back: #fdf0d0; --bad: #a02020;
    --bad-back: #fbe3e0; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; }
  section.experiment { break-before: page; border: 0; margin: 0; } figure, tr { break-inside: avoid; }
  .verdict, .notice { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
""".strip()
