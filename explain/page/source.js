// source.js: source files with the bytes of each line in the margin; the lines around one call.

const files = list(data.files);

// A table of lines [first, last] of a file out of its parts. `marked`: a line to mark; null: none.
function sourceLines(file, first, last, marked) {
  const sent = new Map(file.lines);
  const most = Math.max(1, ...sent.values());
  const lines = [];
  for (const part of file.parts) {
    const from = Math.max(first, part.first), to = Math.min(last, part.first + part.lines.length - 1);
    if (from > to) continue;
    if (lines.length) lines.push(el('tr', {class: 'gap'}, el('td', {colspan: 3}, '⋯')));
    for (let line = from; line <= to; ++line) {
      const bytes = sent.get(line);
      lines.push(el('tr', {class: line === marked ? 'marked' : null, 'data-line': line},
        el('td', {class: 'sent'}, bytes === undefined ? null : sentButton(file, line, bytes, most)),
        el('td', {class: 'line'}, String(line)), el('td', {class: 'code'}, part.lines[line - part.first])));
    }
  }
  return lines;
}
function sentButton(file, line, bytes, most) {
  return el('button', {type: 'button', class: 'link', title: 'Show the rows of this line', onclick: () => {
    search.set(`${file.name}:${line}`);
    byId('table').scrollIntoView();
  }}, el('i', {class: 'bar', style: {width: `${(100 * bytes / most).toFixed(1)}%`}}), el('span', {}, bytesText(bytes)));
}

const source = (() => {
  const FIRST = 400;
  const shown = files.map((file, i) => ({file, i, sent: file.lines.reduce((sum, line) => sum + line[1], 0)}))
    .filter((entry) => entry.file.lines.length).sort((a, b) => b.sent - a.sent);
  let marked = null;

  function draw(index) {
    const file = files[index];
    const mark = marked && marked.file === index ? marked.line : null;
    byId('source-choice').value = index;
    const body = el('tbody');
    byId('source-text').replaceChildren();
    byId('source-more').replaceChildren();
    if (file.parts.length) {
      byId('source-text').append(el('table', {class: 'code-lines'}, body));
      const lines = sourceLines(file, 1, Infinity, mark);
      const list_ = growingList(body, byId('source-more'), lines, FIRST, (line) => line);
      const at = lines.findIndex((line) => line.classList.contains('marked'));
      list_.growTo(at + 1);
      if (at >= 0) byId('source-text').scrollTop = lines[at].offsetTop - byId('source-text').clientHeight / 3;
      return;
    }
    byId('source-text').append(el('p', {class: 'hint'}, `The text is not shown: ${file.missing}.`));
    const most = Math.max(1, ...file.lines.map((line) => line[1]));
    byId('source-text').append(el('table', {class: 'code-lines'}, body));
    const lines = file.lines.slice().sort((a, b) => b[1] - a[1]);
    growingList(body, byId('source-more'), lines, 100, ([line, bytes]) => el('tr', {class: line === mark ? 'marked' : null},
      el('td', {class: 'sent'}, sentButton(file, line, bytes, most)), el('td', {class: 'line'}, String(line)),
      el('td', {class: 'code'}, `${file.name}:${line}`)));
  }

  return {
    start() {
      byId('source').hidden = !shown.length;
      if (!shown.length) return;
      byId('source-choice').append(...shown.map(({file, i, sent}) => el('option', {value: i}, `${file.name}  (${bytesText(sent)})`)));
      byId('source-choice').addEventListener('change', () => draw(+byId('source-choice').value));
      draw(shown[0].i);
    },
    // Follows the row that is open.
    select(record) {
      const call = record.stack >= 0 && record.frame >= 0 ? data.stacks[record.stack][record.frame] : null;
      if (!call || !files[call[0]].lines.length) return;
      marked = {file: call[0], line: call[1]};
      draw(call[0]);
    },
  };
})();
