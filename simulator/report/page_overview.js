// page_overview.js: the sentence at the top, the bars of the breakdown and of the costliest source lines.

function drawHeadline() {
  const devices = number(data.devices);
  document.title = `${text(data.module) || 'module'} on ${text(data.machine)}: predicted step`;
  d3.select('#program').text(
    `${text(data.module)} on ${text(data.machine)}, ${countText(devices)} device${devices === 1 ? '' : 's'}` +
    (data.rates === 'measured' ? ', at measured rates' : '') + (data.overlap ? ', communication overlaps computation' : ''));
  const memory = data.memory || {};
  const peak = number(memory.peak), capacity = number(memory.capacity);
  const headline = d3.select('#headline');
  const say = (string, className) => headline.append('span').attr('class', className || null).text(string);
  if (stepSeconds > 0) {
    say(`A step takes ${timeText(stepSeconds)}: `);
    say(sayWhatBounds());
    const roofline = number(data.roofline_seconds);
    if (roofline > 0) say(`. ${timeText(roofline)} would do if units, memory and links ran at their full rates`);
    say('. ');
  } else {
    say('Nothing in this module takes time. ');
  }
  if (capacity > 0 && peak > capacity) {
    say(`It does not fit: memory peaks at ${bytesText(peak)}, ${bytesText(peak - capacity)} more than a device has.`, 'bad');
  } else if (capacity > 0) {
    say(`Memory peaks at ${bytesText(peak)} of ${bytesText(capacity)}.`);
  }
  drawCostliest();
  drawFixedCosts();
  const notes = list(data.notes);
  d3.select('#notes').attr('hidden', notes.length ? null : '').selectAll('li').data(notes).enter().append('li').text(text);
}

// What the core does and waits for, largest first: "62 % products of matrices, 20 % waiting for collectives, ...; bound by products".
function sayWhatBounds() {
  const exposed = number((data.communication || {}).exposed_seconds), all = number((data.communication || {}).seconds);
  const host = number((data.host_copies || {}).exposed_seconds), copies = number((data.host_copies || {}).seconds);
  const bound = (name) => d3.sum(groupRows.filter((row) => row.bound === name), (row) => row.seconds);
  const parts = [
    {seconds: bound('matrix'), does: 'products of matrices', by: 'products'},
    {seconds: bound('memory'), does: 'passes through memory', by: 'memory'},
    {seconds: bound('vector') + bound('movement'), does: 'vector instructions', by: 'vector instructions'},
    {seconds: exposed, does: 'waiting for collectives', by: 'collectives that nothing hides'},
    {seconds: host, does: 'waiting for the host', by: 'copies from and to the host'},
  ].filter((part) => part.seconds > 0.001 * stepSeconds).sort((a, b) => b.seconds - a.seconds);
  if (parts.length === 0) return 'nothing that lasts';
  const hidden = [];
  if (all > exposed * 1.01) hidden.push(`${timeText(all - exposed)} of collectives`);
  if (copies > host) hidden.push(`${timeText(copies - host)} of copies between host and device`);
  return `bound by ${parts[0].by} (${parts.map((part) => `${shareText(part.seconds / stepSeconds)} ${part.does}`).join(', ')})` +
    (hidden.length ? `; hidden behind it: ${hidden.join(' and ')}` : '');
}

// "moe.py:88 costs most: 24 % of the step, mostly all-to-all (moe/dispatch), because ...".
function drawCostliest() {
  const place = d3.select('#costliest');
  const named = sourceEntries.filter((entry) => entry.source);
  const entry = named[0];
  if (!entry || entry.seconds <= 0) {
    const row = allRows.reduce((a, b) => (a && a.seconds >= b.seconds ? a : b), null);
    if (!row || row.seconds <= 0) return;
    place.append('span').text('Costliest instruction: ');
    place.append('strong').text(row.name);
    place.append('span').text(`, ${row.kind}, ${shareText(row.share)} of the step. The module names no source lines.`);
    return;
  }
  const kinds = Array.from(entry.kinds).sort((a, b) => b[1] - a[1]);
  const [kind, seconds] = kinds[0];
  place.append('span').text('Costliest source line: ');
  place.append('strong').text(entry.source);
  place.append('span').text(`, ${shareText(entry.share)} of the step, ` +
    (kinds.length === 1 ? `all of it ${kind}` : `${shareText(seconds / entry.seconds)} of that ${kind}`) +
    (entry.top.opName ? ` (${tail(entry.top.opName, 2)})` : '') + '.' +
    (entry.top.cause ? ` Cause: ${entry.top.cause}.` : ''));
}

// Where most of the computation is what starting groups costs, that is what to know first.
function drawFixedCosts() {
  const seconds = d3.sum(groupRows, (row) => row.seconds);
  const starting = d3.sum(groupRows.filter((row) => row.bound === 'latency'), (row) => row.seconds);
  if (seconds <= 0 || starting < seconds / 2) return;
  d3.select('#costliest').append('span').text(` ${shareText(starting / seconds)} of the computation is in groups too small to ` +
    'fill the core: starting them takes longer than their work.');
}

// One bar a row: {label, title, parts: [{kind, seconds}], seconds, share, run, note}. The label stands before the bar, or
// above it together with `note`.
function drawBars(part, rows, labelWidth) {
  const above = labelWidth === 0;
  const rowHeight = above ? 40 : 26;
  const {plot, width} = makePlot(part, 1) || {};
  if (!plot) return;
  plot.html('');
  const svg = plot.append('svg').attr({width, height: rows.length * rowHeight + 2});
  const x = d3.scale.linear().domain([0, d3.max(rows, (row) => row.seconds)]).range([0, width - labelWidth - 128]);
  const group = svg.selectAll('.row').data(rows).enter().append('g')
    .attr({class: 'row', tabindex: 0, role: 'button', transform: (_, i) => `translate(0,${i * rowHeight + 1})`})
    .attr('aria-label', (row) => `${row.label}: ${timeText(row.seconds)}, ${shareText(row.share)}`)
    .on('click', (row) => row.run())
    .on('keydown', (row) => {
      if (d3.event.key === 'Enter' || d3.event.key === ' ') { d3.event.preventDefault(); row.run(); }
    })
    .on('mousemove', (row) => showTip(row.title)).on('mouseleave', hideTip);
  group.append('rect').attr({class: 'back', width, height: rowHeight - 1, rx: 3});
  const label = group.append('text').attr({x: 3, y: above ? 14 : 17});
  label.append('tspan').text((row) => (above ? row.label : clip(row.label, labelWidth - 8, 6.6)));
  label.append('tspan').attr({class: 'soft', dx: 8})
    .text((row) => clip(row.note, width - 30 - row.label.length * 7, 6.6));
  group.each(function (row) {
    let left = labelWidth + 3;
    d3.select(this).selectAll('.bar').data(row.parts).enter().append('rect').attr('class', 'bar')
      .attr({y: above ? 20 : 5, height: above ? 12 : 15})
      .each(function (d) {
        const w = x(d.seconds);
        d3.select(this).attr({x: left, width: Math.max(0.5, w), fill: colorOf(d.kind)});
        left += w;
      });
    d3.select(this).append('text').attr({x: left + 7, y: above ? 30 : 17})
      .text(`${timeText(row.seconds)} · ${shareText(row.share)}`);
  });
}

function drawBreakdown() {
  if (breakdown.length === 0) return drawEmpty('#breakdown', 'Nothing takes time.');
  const rest = breakdown.slice(11);
  const rows = breakdown.slice(0, 11).map((part) => ({
    label: part.kind, seconds: part.seconds, share: part.seconds / stepSeconds, parts: [part], note: '',
    title: [part.kind, `${timeText(part.seconds)}, ${part.communicates ? 'communication' : 'computation'}`],
    run: () => table.show({kind: part.kind}),
  }));
  if (rest.length) {
    const seconds = d3.sum(rest, (part) => part.seconds);
    rows.push({label: `${rest.length} more`, seconds, share: seconds / stepSeconds, parts: [{kind: 'other', seconds}], note: '',
      title: ['Further kinds', ...rest.map((part) => `${part.kind}: ${timeText(part.seconds)}`)], run: () => table.show({})});
  }
  drawBars('#breakdown', rows, 132);
}

function drawSources() {
  const entries = sourceEntries.filter((entry) => entry.seconds > 0).slice(0, 8);
  if (entries.length === 0) return drawEmpty('#sources', 'Nothing takes time.');
  drawBars('#sources', entries.map((entry) => ({
    label: entry.source || 'no source line', note: entry.top.opName ? tail(entry.top.opName, 2) : entry.top.name,
    seconds: entry.seconds, share: entry.share,
    parts: Array.from(entry.kinds, ([kind, seconds]) => ({kind, seconds})).sort((a, b) => b.seconds - a.seconds),
    title: [entry.source || 'no source line', ...Array.from(entry.kinds).sort((a, b) => b[1] - a[1]).slice(0, 6)
      .map(([kind, seconds]) => `${kind}: ${timeText(seconds)}`), entry.top.opName],
    run: () => table.show({source: entry.source}),
  })), 0);
}
