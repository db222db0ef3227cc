// page_common.js: what all parts of the page share: the data as rows, colors, the tooltip, and the one
// selected row. Text from the program reaches the page as text nodes only, never as markup.

const data = JSON.parse(document.getElementById('toroid-data').textContent);
window.TOROID_DATA = data;

// What happens in one part and others follow: the selected row (or null), the time under the pointer (or null), the
// time on the slider of the mesh (or null).
const bus = d3.dispatch('select', 'cursor', 'moment');

const stepSeconds = Math.max(0, number(data.step_seconds));
const COMMUNICATION = new Set(['all-to-all', 'all-reduce', 'all-gather', 'reduce-scatter', 'collective-permute',
  'collective-broadcast', 'ragged-all-to-all', 'send', 'recv', 'to-host', 'to-device', 'communication']);

function makeRow(raw, stream, index) {
  const communicates = stream === 1;
  const seconds = number(raw.seconds);
  return {
    raw, stream, index, communicates, seconds,
    share: typeof raw.share === 'number' ? raw.share : stepSeconds > 0 ? seconds / stepSeconds : 0,
    name: text(raw.instruction),
    kind: text(communicates ? raw.kind : raw.class || raw.opcode) || 'other',
    bound: communicates ? 'network' : text(raw.bound),
    source: text(raw.source), opName: text(raw.op_name), cause: text(raw.cause),
    executions: number(raw.executions),
  };
}
const groupRows = list(data.groups).map((raw, i) => makeRow(raw, 0, i));
const collectiveRows = list(data.collectives).map((raw, i) => makeRow(raw, 1, i));
const allRows = groupRows.concat(collectiveRows);
for (const row of collectiveRows) COMMUNICATION.add(row.kind);

// The breakdown, largest first: [{kind, seconds, communicates}].
const breakdown = Object.keys(data.breakdown || {})
  .map((kind) => ({kind, seconds: number(data.breakdown[kind]), communicates: COMMUNICATION.has(kind)}))
  .filter((part) => part.seconds > 0).sort((a, b) => b.seconds - a.seconds);

// Events of one stream (computation, communication, copies from and to the host) by start: columns, and `reach[i]`, the latest end of events 0 .. i.
function makeTrack(stream) {
  const rows = stream === 0 ? groupRows : collectiveRows;
  const events = list((data.timeline || {}).events)
    .filter((e) => Math.min(2, e[2]) === stream && rows[e[3]] !== undefined).sort((a, b) => a[0] - b[0]);
  const track = {start: new Float64Array(events.length), end: new Float64Array(events.length),
    reach: new Float64Array(events.length), row: events.map((e) => rows[e[3]]), size: events.length};
  let reach = 0;
  events.forEach((e, i) => {
    track.start[i] = e[0];
    track.end[i] = e[0] + e[1];
    track.reach[i] = reach = Math.max(reach, track.end[i]);
  });
  return track;
}
const tracks = [makeTrack(0), makeTrack(1), makeTrack(2)];
const recordedSeconds = Math.max(...tracks.map((track) => (track.size ? track.reach[track.size - 1] : 0)));
const endSeconds = Math.max(stepSeconds, recordedSeconds);

// The event of `track` that runs at `time`, the latest to start when several do; -1: none.
function eventAt(track, time) {
  for (let i = d3.bisectRight(track.start, time) - 1; i >= 0 && track.reach[i] >= time; --i) {
    if (track.end[i] >= time) return i;
  }
  return -1;
}

// Colors of kinds: cool for computation, warm for communication, after Okabe and Ito.
const COOL = ['#0072b2', '#56b4e9', '#009e73', '#8c7ac6', '#7a8f3c', '#3f97a6', '#a0785a', '#5c7fd6'];
const WARM = ['#d55e00', '#e69f00', '#cc79a7', '#b23a48', '#e8b078'];
const GREY = '#8d99a5';
// The kinds met most keep their colors from page to page.
const kindColors = new Map([
  ...['all-to-all', 'all-reduce', 'all-gather', 'reduce-scatter', 'collective-permute'].map((kind, i) => [kind, WARM[i]]),
  ['to-host', '#6b7f2a'], ['to-device', '#b8a13a'],
  ...['dot', 'elementwise', 'reduce', 'copy', 'convolution', 'cumulative sum'].map((kind, i) => [kind, COOL[i]])]);
function colorOf(kind) {
  if (!kindColors.has(kind)) {
    const palette = COMMUNICATION.has(kind) ? WARM : COOL;
    const used = Array.from(kindColors.values()).filter((color) => palette.includes(color)).length;
    kindColors.set(kind, used < palette.length && kind !== 'other' ? palette[used] : GREY);
  }
  return kindColors.get(kind);
}
breakdown.forEach((part) => colorOf(part.kind));

const BOUNDS = [['matrix', '#0072b2'], ['vector', '#009e73'], ['memory', '#e69f00'], ['latency', '#cc79a7']];
const boundColor = (bound) => (BOUNDS.find((b) => b[0] === bound) || [bound, GREY])[1];

const cssColor = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

// A color of the heat scale for a load of 0 .. 1; ordered by lightness away from the background.
function heatScale() {
  const stops = cssColor('heat').split(/\s+/);
  return d3.scale.linear().domain(stops.map((_, i) => i / (stops.length - 1))).range(stops).clamp(true);
}

// Black or white, whichever reads better on `color`.
function inkOn(color) {
  const c = d3.rgb(color);
  return 0.299 * c.r + 0.587 * c.g + 0.114 * c.b > 125 ? '#101418' : '#ffffff';
}

const bytesText = (bytes) => scaled(bytes, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
const rateText = (rate, unit) => scaled(rate, ['', 'k', 'M', 'G', 'T', 'P'].map((prefix) => prefix + unit), 1000);

// The share of the time of rows of a kind that the step is longer by: what computation hides costs nothing.
function exposedShare(kind) {
  const isHost = kind === 'to-host' || kind === 'to-device';
  if (!isHost && !COMMUNICATION.has(kind)) return 1;
  const times = (isHost ? data.host_copies : data.communication) || {};
  const all = number(times.seconds), exposed = number(times.exposed_seconds);
  return exposed < 0.999 * all ? exposed / all : 1;
}

// Rows summed by source line, costliest first: [{source, rows, seconds, share, kinds: Map(kind -> seconds), top}], `top`
// the costliest row. Rows without a source line are one entry with source ''. Of communication the exposed share counts.
function bySource(rows) {
  const entries = new Map();
  for (const row of rows) {
    if (!entries.has(row.source)) {
      entries.set(row.source, {source: row.source, rows: [], seconds: 0, share: 0, executions: 0, kinds: new Map(), top: row});
    }
    const entry = entries.get(row.source);
    entry.rows.push(row);
    const shown = exposedShare(row.kind);
    entry.seconds += row.seconds * shown;
    entry.share += row.share * shown;
    entry.executions += row.executions;
    entry.kinds.set(row.kind, (entry.kinds.get(row.kind) || 0) + row.seconds * shown);
    if (row.seconds * shown > entry.top.seconds * exposedShare(entry.top.kind)) entry.top = row;
  }
  return Array.from(entries.values()).sort((a, b) => b.seconds - a.seconds);
}
const sourceEntries = bySource(allRows);

// A tooltip at the pointer: the first line in bold, then soft lines; empty lines are left out.
const tip = d3.select('#tip');
function showTip(lines) {
  tip.selectAll('*').remove();
  lines.filter((line) => line).forEach((line, i) => tip.append(i === 0 ? 'b' : 'span').text(line));
  tip.attr('hidden', null);
  const box = tip.node().getBoundingClientRect();
  const x = d3.event.clientX + 14, y = d3.event.clientY + 14;
  tip.style('left', Math.max(4, x + box.width > innerWidth - 6 ? x - box.width - 28 : x) + 'px')
    .style('top', Math.max(4, y + box.height > innerHeight - 6 ? y - box.height - 28 : y) + 'px');
}
const hideTip = () => tip.attr('hidden', '');
const rowLines = (row) => [row.name, `${row.kind}, ${timeText(row.seconds)} in all, ${shareText(row.share)} of the step`,
  row.source, row.opName, row.cause];

// Colored squares with names, into the `.legend` of a part.
function drawLegend(part, keys) {
  const key = d3.select(part + ' .legend').html('').selectAll('.key').data(keys).enter().append('span').attr('class', 'key');
  key.append('i').style('background', (d) => d[1]);
  key.append('span').text((d) => d[0]);
}

// An empty `.plot` of a part with a canvas of `height` and, if asked for, an SVG over it; null when the part is too narrow.
function makePlot(part, height) {
  const plot = d3.select(part + ' .plot').html('');
  const width = Math.floor(plot.node().clientWidth);
  if (width < 50) return null;
  const ratio = window.devicePixelRatio || 1;
  const canvas = plot.append('canvas').attr({width: width * ratio, height: height * ratio})
    .style({width: width + 'px', height: height + 'px'});
  const context = canvas.node().getContext('2d');
  context.scale(ratio, ratio);
  const svg = plot.append('svg').attr({class: 'over', width, height}).style('pointer-events', 'none').attr('aria-hidden', true);
  return {plot, canvas, context, svg, width, height};
}
function drawEmpty(part, sentence) {
  d3.select(part + ' .plot').html('').append('p').attr('class', 'empty').text(sentence);
}
const clip = (string, pixels, perLetter) => {
  const letters = Math.floor(pixels / perLetter);
  return string.length <= letters ? string : letters < 2 ? '' : string.slice(0, letters - 1) + '…';
};
