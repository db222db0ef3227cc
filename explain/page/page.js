// page.js: the first lines, the notes, links into the page; the last of its scripts.

function drawHeadline() {
  const memory = data.memory, sent = number(explanation.sent_bytes);
  document.title = `${data.title}: what is sent, and why`;
  byId('program').replaceChildren(...breakable(data.title));
  byId('headline').textContent = data.summary;
  const figure = (value, label) => el('li', {}, el('b', {}, value), ' ', el('span', {}, label));
  const figures = [
    figure(bytesText(memory.peak), `of memory at the peak, ${bytesText(memory.parameters)} of it arguments`),
    figure(countText(sent), 'bytes sent'),
    records.length === explanation.collectives ? '' : figure(countText(records.length), `arrays in ${countText(explanation.collectives)} collectives`),
  ];
  if (hasTimes) {
    const share = explanation.step_seconds > 0 ? explanation.collective_seconds / explanation.step_seconds : 0;
    figures.push(figure(timeText(explanation.step_seconds), `a step on ${explanation.machine}, ${shareText(share)} in collectives`));
  }
  const axes = list(data.mesh.axes).filter((axis) => axis.name).map((axis) => `${axis.name} ${axis.size}`);
  figures.push(figure(countText(explanation.num_partitions), axes.length ? `devices: ${axes.join(' × ')}` : 'devices'));
  byId('figures').append(...figures.filter((one) => one));
  byId('axes').textContent = data.made_up_axes ? `Axes ${data.made_up_axes}: a letter and a size each; the module names none.` : '';
  byId('made').textContent = `Written by hlo-partition ${data.version}. Bytes are per device, of all trips of a loop.`;
}

function drawDiagnosis() {
  const changes = list(explanation.diagnosis);
  byId('diagnosis').hidden = !changes.length;
  byId('diagnosis-list').append(...changes.map((change) => el('li', {}, breakable(text(change.text)), ' ',
    el('span', {class: 'soft'}, text(change.source)))));
}

function drawNotes() {
  const notes = list(explanation.notes);
  byId('notes').hidden = !notes.length;
  growingList(byId('notes-list'), byId('notes-more'), notes, 12, (note) => el('li', {}, el('b', {}, text(note.kind)), ' ', breakable(text(note.name)), ' ',
    el('span', {class: 'soft'}, [note.names.length > 1 ? `${countText(note.names.length)} × ${note.detail}` : note.detail, note.reason, note.source]
      .filter((part) => part).join(', '))));
}

function followLink() {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch (malformed) { return; }
  if (id.startsWith('row-')) table.openLink(id);
  else if (id.startsWith('node-')) instruction.openLink(id.slice('node-'.length));
}

drawHeadline();
drawDiagnosis();
drawNotes();
table.start();
search.start();
mesh.start();
source.start();
followLink();
window.addEventListener('hashchange', followLink);
byId('instruction-close').addEventListener('click', instruction.close);
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  byId('find').focus();
  byId('find').select();
});
let lastWidth = innerWidth, pendingResize = 0;
window.addEventListener('resize', () => {
  if (innerWidth === lastWidth) return;
  lastWidth = innerWidth;
  clearTimeout(pendingResize);
  pendingResize = setTimeout(mesh.resize, 120);
});
document.documentElement.setAttribute('data-ready', 'true');
