// Draws a sweep: step time over the first axis, a line for each combination of the others; stacked classes; a table.
(function () {
  'use strict';
  const data = window.TOROID_SWEEP;
  const width = 960, height = 380, margin = {top: 12, right: 220, bottom: 44, left: 70};
  const colors = d3.scale.category10();

  function duration(seconds) {
    const units = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs'], [1e-9, 'ns']];
    const unit = units.filter(u => seconds >= u[0])[0] || units[3];
    return d3.format('.3g')(seconds / unit[0]) + ' ' + unit[1];
  }
  const label = point => point.values.join(', ');
  const seriesOf = point => point.values.slice(1).join(', ');

  function svgIn(id, h) {
    return d3.select(id).append('svg').attr('viewBox', '0 0 ' + width + ' ' + h);
  }
  function addAxes(svg, x, y, h) {
    svg.append('g').attr('class', 'axis').attr('transform', 'translate(0,' + (h - margin.bottom) + ')')
        .call(d3.svg.axis().scale(x).orient('bottom').ticks(6));
    svg.append('g').attr('class', 'axis').attr('transform', 'translate(' + margin.left + ',0)')
        .call(d3.svg.axis().scale(y).orient('left').ticks(6).tickFormat(duration));
  }

  // Numbers lie on a scale, logarithmic if they span more than a factor of ten; other values side by side.
  function xScale(values) {
    const range = [margin.left + 10, width - margin.right];
    const numbers = values.map(Number);
    if (values.length > 1 && numbers.every(v => isFinite(v))) {
      const extent = d3.extent(numbers);
      const scale = extent[0] > 0 && extent[1] / extent[0] > 10 ? d3.scale.log() : d3.scale.linear();
      scale.domain(extent).range(range);
      return {scale: scale, at: v => scale(Number(v))};
    }
    const scale = d3.scale.ordinal().domain(values).rangePoints(range, 1);
    return {scale: scale, at: scale};
  }

  function drawLines() {
    const svg = svgIn('#lines', height);
    const x = xScale(d3.set(data.points.map(p => p.values[0])).values());
    const y = d3.scale.linear().domain([0, d3.max(data.points, p => p.step_seconds) || 1]).nice()
        .range([height - margin.bottom, margin.top]);
    addAxes(svg, x.scale, y, height);
    svg.append('text').attr('x', (width - margin.right + margin.left) / 2).attr('y', height - 8)
        .attr('text-anchor', 'middle').text(data.axes[0]);
    const line = d3.svg.line().x(p => x.at(p.values[0])).y(p => y(p.step_seconds));
    d3.nest().key(seriesOf).entries(data.points).forEach((series, i) => {
      svg.append('path').attr('d', line(series.values)).attr('fill', 'none').attr('stroke', colors(i)).attr('stroke-width', 2);
      svg.selectAll(null).data(series.values).enter().append('circle').attr('cx', p => x.at(p.values[0]))
          .attr('cy', p => y(p.step_seconds)).attr('r', 4).attr('fill', colors(i))
          .append('title').text(p => label(p) + ': ' + duration(p.step_seconds));
      if (series.key) {
        svg.append('text').attr('x', width - margin.right + 14).attr('y', margin.top + 14 + 18 * i)
            .style('fill', colors(i)).text(series.key);
      }
    });
  }

  function drawBars() {
    const row = 24, h = row * data.points.length + margin.top + margin.bottom;
    const svg = svgIn('#bars', h);
    const x = d3.scale.linear().domain([0, d3.max(data.points, p => d3.sum(d3.values(p.breakdown))) || 1])
        .range([margin.left + 130, width - margin.right]);
    const color = d3.scale.category20().domain(data.classes);
    data.points.forEach((point, i) => {
      const top = margin.top + row * i;
      let from = 0;
      svg.append('text').attr('x', margin.left + 120).attr('y', top + 15).attr('text-anchor', 'end').text(label(point));
      data.classes.forEach(name => {
        const seconds = point.breakdown[name] || 0;
        svg.append('rect').attr('x', x(from)).attr('width', x(from + seconds) - x(from)).attr('y', top).attr('height', row - 6)
            .attr('fill', color(name)).append('title').text(name + ': ' + duration(seconds));
        from += seconds;
      });
    });
    data.classes.forEach((name, i) => {
      svg.append('rect').attr('x', width - margin.right + 14).attr('y', margin.top + 18 * i).attr('width', 12).attr('height', 12)
          .attr('fill', color(name));
      svg.append('text').attr('x', width - margin.right + 32).attr('y', margin.top + 11 + 18 * i).text(name);
    });
  }

  function drawTable() {
    const columns = data.axes.map((name, i) => [name, p => p.values[i]]).concat([
      ['step', p => duration(p.step_seconds)], ['roofline', p => duration(p.roofline_seconds)],
      ['communication', p => d3.format('.1%')(p.communication_share)],
      ['memory', p => d3.format('.3s')(p.memory.peak) + 'B' + (p.memory.peak > p.memory.capacity ? ', does not fit' : '')]]);
    const table = d3.select('table');
    table.append('tr').selectAll('th').data(columns).enter().append('th').text(c => c[0]);
    table.selectAll('tr.point').data(data.points).enter().append('tr').attr('class', 'point')
        .selectAll('td').data(p => columns.map(c => c[1](p))).enter().append('td').text(t => t);
  }

  d3.select('h1').text('Step time over ' + data.axes.join(', '));
  if (data.points.length) {
    drawLines();
    drawBars();
  }
  drawTable();
})();
