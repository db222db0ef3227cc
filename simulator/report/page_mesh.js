// page_mesh.js: load of every directed link, at a moment or as the mean over the step. The last two axes are drawn as a
// grid of chips, further ones as slices: half of a chip's square then shows its link towards the next slice, half the one
// towards the slice before. One axis is a row, broken into lines where it is long. Links that wrap around, or lead to
// another line, are stubs. Each link keeps to one side of its pair: right and down below, left and up above.

const mesh = (() => {
  const network = data.network || {};
  const axes = list(network.axes).map((n) => Math.max(1, Math.floor(number(n))));
  const chips = axes.reduce((a, b) => a * b, axes.length ? 1 : 0);
  const loads = list(network.link_loads);
  const NAMES = axes.map((_, i) => (axes.length <= 3 ? 'XYZ'[i] : String(i)));
  const BUCKETS = 64;
  let plot = null, layout = null, mean = false, moment = null;

  const loadsOf = (row) => list(loads[row.raw.link_load]);
  const busiest = (row) => d3.max(loadsOf(row)) || 0;
  // "busiest link 63 % of its rate, +Y of chip (12, 15) and 63 more"; the rest of the time goes to starting and waiting.
  function busiestText(row) {
    const load = busiest(row), links = loadsOf(row), text = `busiest link at ${shareText(load)} of its rate`;
    if (load <= 0) return text;
    const first = links.findIndex((l) => l >= load * 0.999), chip = Math.floor(first / (2 * axes.length));
    const more = links.filter((l) => l >= load * 0.999).length - 1;
    return `${text}, ${first % 2 ? '−' : '+'}${NAMES[Math.floor(first / 2) % axes.length]} of chip (${coordinatesOf(chip).join(', ')})` +
      (more > 0 ? ` and ${countText(more)} more` : '');
  }

  // Utilization of every link over the whole step: what each collective loads, for as long as it takes.
  const meanLoads = (() => {
    let computed = null;
    return () => {
      if (computed) return computed;
      computed = new Float64Array(chips * axes.length * 2).fill(-1);
      for (const row of collectiveRows) {
        loadsOf(row).forEach((load, i) => {
          if (load >= 0 && i < computed.length) computed[i] = Math.max(0, computed[i]) + load * row.seconds / stepSeconds;
        });
      }
      return computed;
    };
  })();
  // Links that exist, all idle.
  const idleLoads = () => Float64Array.from(meanLoads(), (load) => (load < 0 ? -1 : 0));

  // Where each chip is drawn: {cell, side, x: [], y: [], height}, in pixels.
  function arrange(width) {
    const n = axes.length;
    let columns = n ? axes[n - 1] : 1, rows = n > 1 ? axes[n - 2] : 1;
    const slices = chips / (columns * rows);
    let lines = 1;
    if (n === 1) {
      while (columns / lines * 14 > width) ++lines;
      rows = lines;
      columns = Math.ceil(axes[0] / lines);
    }
    const gap = slices > 1 ? 0.6 : 0;  // Between slices, in cells.
    let best = {cell: 0, across: 1};
    for (let across = 1; across <= slices; ++across) {
      const down = Math.ceil(slices / across);
      const cell = Math.min(90, width / (across * (columns + gap)), (540 - 18 * down) / (down * (rows + gap)));
      if (cell > best.cell) best = {cell, across};
    }
    const {cell, across} = best;
    const sliceWidth = cell * (columns + gap), sliceHeight = cell * (rows + gap) + (slices > 1 ? 16 : 0);
    const left = Math.max(0, (width - across * sliceWidth) / 2);
    const result = {cell, columns, rows, slices, lines, side: Math.max(1, cell * (cell > 24 ? 0.5 : 0.44)),
      x: new Float64Array(chips), y: new Float64Array(chips), titles: [],
      height: Math.ceil(Math.ceil(slices / across) * sliceHeight)};
    for (let chip = 0; chip < chips; ++chip) {
      const slice = Math.floor(chip / (columns * rows)), within = chip % (columns * rows);
      result.x[chip] = left + (slice % across) * sliceWidth + cell * (0.5 + within % columns);
      result.y[chip] = Math.floor(slice / across) * sliceHeight + (slices > 1 ? 16 : 0) + cell * (0.5 + Math.floor(within / columns));
    }
    for (let slice = 0; slices > 1 && slice < slices; ++slice) {
      const coordinates = coordinatesOf(slice * columns * rows).slice(0, n - 2);
      result.titles.push({text: coordinates.map((c, i) => `${NAMES[i]} ${c}`).join(', '),
        x: left + (slice % across) * sliceWidth + cell * 0.25, y: Math.floor(slice / across) * sliceHeight + 12});
    }
    return result;
  }
  function coordinatesOf(chip) {
    const result = [];
    for (let i = axes.length - 1; i >= 0; --i) {
      result.unshift(chip % axes[i]);
      chip = Math.floor(chip / axes[i]);
    }
    return result;
  }

  function draw() {
    if (!plot || !layout) return;
    const row = mean ? null : rowAt(moment);
    const current = mean ? meanLoads() : row ? loadsOf(row) : idleLoads();
    const c = plot.context, {cell, side, x, y} = layout, n = axes.length;
    const heat = heatScale();
    const half = side / 2, off = Math.max(0.5, cell * 0.1);
    const segments = Array.from({length: BUCKETS + 1}, () => []);
    const halves = Array.from({length: BUCKETS + 1}, () => []);
    const bucket = (load) => Math.round(Math.max(0, Math.min(1, load)) * BUCKETS);
    const stride = axes.map((_, i) => axes.slice(i + 1).reduce((a, b) => a * b, 1));
    for (let chip = 0; chip < chips; ++chip) {
      for (let axis = 0; axis < n; ++axis) {
        const at = Math.floor(chip / stride[axis]) % axes[axis];
        for (let direction = 0; direction < 2; ++direction) {
          const load = current[(chip * n + axis) * 2 + direction];
          if (!(load >= 0)) continue;
          const sign = direction === 0 ? 1 : -1;
          if (axis < n - 2) {
            halves[bucket(load)].push(x[chip] - half + (direction === 0 ? half : 0), y[chip] - half);
            continue;
          }
          const inside = at + sign >= 0 && at + sign < axes[axis];
          const next = chip + sign * stride[axis];
          const beside = inside && (axis === n - 1 ? y[next] === y[chip] : true);
          const reach = beside ? cell - half : half + cell * 0.24;
          if (axis === n - 1) {
            const level = y[chip] + sign * off;
            segments[bucket(load)].push(x[chip] + sign * half, level, x[chip] + sign * reach, level);
          } else {
            const level = x[chip] + sign * off;
            segments[bucket(load)].push(level, y[chip] + sign * half, level, y[chip] + sign * reach);
          }
        }
      }
    }
    c.clearRect(0, 0, plot.width, plot.height);
    c.fillStyle = cssColor('soft');
    c.font = '12px system-ui, sans-serif';
    layout.titles.forEach((title) => c.fillText(title.text, title.x, title.y));
    c.lineWidth = Math.max(1, Math.min(9, cell * 0.17));
    segments.forEach((points, i) => {
      if (points.length === 0) return;
      c.strokeStyle = heat(i / BUCKETS);
      c.beginPath();
      for (let k = 0; k < points.length; k += 4) {
        c.moveTo(points[k], points[k + 1]);
        c.lineTo(points[k + 2], points[k + 3]);
      }
      c.stroke();
    });
    c.fillStyle = cssColor('chip');
    for (let chip = 0; chip < chips; ++chip) c.fillRect(x[chip] - half, y[chip] - half, side, side);
    halves.forEach((points, i) => {
      c.fillStyle = heat(i / BUCKETS);
      for (let k = 0; k < points.length; k += 2) c.fillRect(points[k], points[k + 1], half, side);
    });
    if (n > 2 && cell > 7) {
      c.strokeStyle = cssColor('card');
      c.lineWidth = Math.min(2, cell * 0.08);
      for (let chip = 0; chip < chips; ++chip) c.strokeRect(x[chip] - half, y[chip] - half, side, side);
    }
    if (cell > 16 && n < 3) drawCores(c);
  }
  // Cores that share a chip, as parts of its square.
  function drawCores(c) {
    const cores = Math.min(8, Math.floor(number(network.cores_per_chip)));
    if (cores < 2) return;
    const {side, x, y} = layout;
    c.strokeStyle = cssColor('chip-line');
    c.lineWidth = 1;
    c.beginPath();
    for (let chip = 0; chip < chips; ++chip) {
      for (let core = 1; core < cores; ++core) {
        const at = Math.round(x[chip] - side / 2 + side * core / cores) + 0.5;
        c.moveTo(at, y[chip] - side / 2);
        c.lineTo(at, y[chip] + side / 2);
      }
    }
    c.stroke();
  }

  const rowAt = (time) => {
    const i = time === null ? -1 : eventAt(tracks[1], time);
    return i < 0 ? null : tracks[1].row[i];
  };

  function describe() {
    const label = d3.select('#mesh-label').html('');
    const row = mean ? null : rowAt(moment);
    label.attr('data-collective', row ? row.index : -1);
    if (mean) {
      label.append('span').text(`Mean over the step: ${shareText(network.mean_utilization)} over all links, the busiest at ` +
        `${shareText(d3.max(meanLoads()))}; at its worst moment a link is at ${shareText(network.max_utilization)}.`);
    } else if (!row) {
      label.append('span').text(`At ${timeText(moment || 0)}: no collective runs, the links are idle.`);
    } else {
      label.append('strong').text(row.name);
      label.append('span').text(` at ${timeText(moment)}: ${row.kind} of ${bytesText(row.raw.bytes)} a device` +
        (row.raw.algorithm ? `, ${row.raw.algorithm}` : '') + `; ${busiestText(row)}.` +
        ` ${timeText(row.seconds)} in all, ${shareText(row.share)} of the step.`);
      label.append('br');
      label.append('span').attr('class', 'cause').text([row.source, row.opName && tail(row.opName, 3), row.cause && `cause: ${row.cause}`]
        .filter((part) => part).join(' · '));
    }
  }

  // Where in the step collectives run, colored by their busiest link.
  function drawStrip() {
    const canvas = d3.select('#mesh-controls canvas'), node = canvas.node();
    const width = Math.max(1, node.parentNode.clientWidth - 16), ratio = window.devicePixelRatio || 1;
    canvas.attr({width: width * ratio, height: 12 * ratio}).style('width', width + 'px');
    const c = node.getContext('2d'), heat = heatScale(), track = tracks[1];
    c.scale(ratio, ratio);
    c.fillStyle = cssColor('grid');
    c.fillRect(0, 0, width, 12);
    for (let i = 0, last = -1; i < track.size; ++i) {
      const left = track.start[i] / endSeconds * width, right = track.end[i] / endSeconds * width;
      if (right - last < 0.5) continue;
      c.fillStyle = heat(busiest(track.row[i]));
      c.fillRect(left, 0, Math.max(1, right - left), 12);
      last = right;
    }
  }

  function step(direction) {
    const track = tracks[1];
    const now = moment === null ? 0 : moment;
    const running = eventAt(track, now);
    const i = direction > 0 ? d3.bisectRight(track.start, now) : (running >= 0 ? running : d3.bisectLeft(track.start, now)) - 1;
    if (i >= 0 && i < track.size) bus.moment((track.start[i] + track.end[i]) / 2);
  }
  function setMean(value) {
    mean = value;
    d3.select('#mesh-mean').attr('aria-pressed', value);
    d3.select('#mesh-moment').attr('aria-pressed', !value);
    describe();
    draw();
  }

  function hover() {
    const [px, py] = d3.mouse(plot.canvas.node()), {x, y, cell} = layout;
    let nearest = -1, distance = cell * cell * 0.36;
    for (let chip = 0; chip < chips; ++chip) {
      const d = (x[chip] - px) ** 2 + (y[chip] - py) ** 2;
      if (d < distance) { distance = d; nearest = chip; }
    }
    if (nearest < 0) return hideTip();
    const row = mean ? null : rowAt(moment);
    const current = mean ? meanLoads() : row ? loadsOf(row) : idleLoads();
    showTip([`chip (${coordinatesOf(nearest).join(', ')})`, ...axes.map((_, axis) => {
      const texts = [0, 1].map((direction) => current[(nearest * axes.length + axis) * 2 + direction])
        .map((load, direction) => `${direction ? '−' : '+'}${NAMES[axis]} ${load >= 0 ? shareText(load) : 'no link'}`);
      return `sends ${texts.join(', ')}`;
    })]);
  }

  function resize() {
    const runs = tracks[1].size > 0 && loads.length > 0;
    d3.select('#mesh-controls').attr('hidden', runs ? null : '');
    d3.select('#mesh .tools').attr('hidden', loads.length && collectiveRows.length ? null : '').style('display',
      loads.length && collectiveRows.length ? null : 'none');
    if (chips < 1 || loads.length === 0 || collectiveRows.length === 0) {
      d3.selectAll('#mesh-scale, #mesh-label').style('display', 'none');
      return drawEmpty('#mesh', 'Nothing is sent over a link.');
    }
    const width = d3.select('#mesh .plot').node().clientWidth;
    layout = arrange(width);
    plot = makePlot('#mesh', layout.height);
    if (!plot) return;
    plot.canvas.on('mousemove', hover).on('mouseleave', hideTip)
      .attr({role: 'img', 'aria-label': `Load of the links between ${chips} chips; the text above says the busiest`});
    const heat = heatScale();
    d3.select('#mesh-scale i').style('background', `linear-gradient(to right, ${heat.range().join(', ')})`);
    const wrapped = axes.map((_, i) => list(network.wrap)[i]);
    d3.select('#mesh-about').text(`${axes.join(' × ')} chips` +
      (number(network.cores_per_chip) > 1 ? `, ${network.cores_per_chip} cores each` : '') +
      (wrapped.every((w) => w) ? ', torus' : wrapped.some((w) => w) ?
        `, wraps along ${NAMES.filter((_, i) => wrapped[i]).join(', ')}` : ', mesh') +
      (axes.some((_, i) => wrapped[i] && list(network.far_wrap)[i] === false) ? '; links that wrap serve neighbours alone' : '') +
      (axes.length > 1 ? `; ${NAMES[axes.length - 1]} runs across` : ''));
    if (runs) drawStrip();
    describe();
    draw();
  }

  // The first event of the costliest collective is what one sees first.
  function start() {
    const track = tracks[1];
    d3.select('#mesh-slider').attr('max', endSeconds || 1).on('input', function () { bus.moment(+this.value); });
    d3.select('#mesh-previous').on('click', () => step(-1));
    d3.select('#mesh-next').on('click', () => step(1));
    d3.select('#mesh-mean').on('click', () => setMean(true));
    d3.select('#mesh-moment').on('click', () => setMean(false));
    let costliest = null;
    for (const row of track.row) if (!costliest || row.seconds > costliest.seconds) costliest = row;
    const i = track.row.indexOf(costliest);
    if (i >= 0) bus.moment((track.start[i] + track.end[i]) / 2);
    else if (collectiveRows.length) setMean(true);
  }
  bus.on('moment.mesh', (time) => {
    moment = time;
    d3.select('#mesh-slider').property('value', time);
    d3.select('#mesh-slider').attr('aria-valuetext', timeText(time));
    if (mean) setMean(false);
    describe();
    draw();
  });
  return {resize, start};
})();
