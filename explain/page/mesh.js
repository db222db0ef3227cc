// mesh.js: the devices of the mesh, and which part of an argument or result, or which group of a collective, each has.

const mesh = (() => {
  const FIRST = 2048, WIDEST = 64;
  const count = number(data.mesh.devices), axes = list(data.mesh.axes), tensors = list(data.mesh.tensors);
  let record = null;     // The open row's collective.
  let shown = null;      // {numbers, describe, pairs}
  let current = 0;       // The device under the pointer or the keys.
  let columns = 1;

  // The device at each position of a tile assignment.
  function devicesOf(sharding) {
    if (sharding.devices) return sharding.devices;
    const sizes = sharding.perm.map((p) => sharding.reshape[p]);
    const strides = sharding.reshape.map((_, k) => sharding.reshape.slice(k + 1).reduce((a, b) => a * b, 1));
    const out = new Array(count);
    for (let position = 0; position < count; ++position) {
      let rest = position, device = 0;
      for (let k = sizes.length - 1; k >= 0; --k) {
        device += rest % sizes[k] * strides[sharding.perm[k]];
        rest = Math.floor(rest / sizes[k]);
      }
      out[position] = device;
    }
    return out;
  }
  // The part of a tensor that a tile is: "[0:16, :, 32:64]"; "" if it is padding alone.
  function sliceOf(tensor, tiles, tile) {
    let rest = tile;
    const parts = new Array(tiles.length);
    let empty = false;
    for (let d = tiles.length - 1; d >= 0; --d) {
      const index = rest % tiles[d], size = Math.ceil(tensor.dims[d] / tiles[d]);
      rest = Math.floor(rest / tiles[d]);
      const first = Math.min(tensor.dims[d], index * size), last = Math.min(tensor.dims[d], first + size);
      parts[d] = tiles[d] === 1 ? ':' : `${first}:${last}`;
      empty = empty || first === last;
    }
    return empty ? '' : `[${parts.join(', ')}]`;
  }
  function viewOfTensor(tensor) {
    const sharding = data.mesh.shardings[tensor.sharding];
    const shape = `${tensor.type}[${tensor.dims.join(',')}]`.replace('[][', '[');
    const rounded = tensor.dims_are_exact ? '' : ', sizes rounded up to whole shards';
    if (sharding.kind !== 'tiled') {
      const only = sharding.kind === 'maximal' ? sharding.device : null;
      return {numbers: new Int32Array(count).map((_, device) => (only === null || device === only ? 0 : -1)),
        title: `${shape}: ${only === null ? 'whole on every device' : `on device ${only} alone`}${rounded}`,
        describe: (device) => (only === null || device === only ? `all of ${shape}` : 'nothing')};
    }
    const tiles = sharding.tiles.slice(0, tensor.dims.length), total = tiles.reduce((a, b) => a * b, 1), copies = count / total;
    const numbers = new Int32Array(count);
    devicesOf(sharding).forEach((device, position) => { numbers[device] = Math.floor(position / copies); });
    const each = copies > 1 ? `, each on ${countText(copies)} devices` : '';
    return {numbers, title: `${shape} in ${countText(total)} parts${each}: ${sharding.text}${rounded}`,
      describe: (device) => `part ${numbers[device]}: ${sliceOf(tensor, tiles, numbers[device]) || 'padding alone'}`};
  }
  function viewOfGroups() {
    const groups = data.mesh.groups[record.groups];
    if (groups.pairs) {
      const to = new Map(groups.pairs);
      const from = new Map(groups.pairs.map(([a, b]) => [b, a]));
      const numbers = new Int32Array(count).fill(-1);
      for (const [a] of groups.pairs) numbers[a] = to.get(a);
      return {numbers, title: `${record.opcode}: each device sends to the one whose number it shows`,
        describe: (device) => [to.has(device) ? `sends to device ${to.get(device)}` : 'sends nothing',
          from.has(device) ? `receives from device ${from.get(device)}` : 'receives nothing'].join(', ')};
    }
    const numbers = Int32Array.from(groups.group);
    const sizes = new Map();
    numbers.forEach((group) => sizes.set(group, (sizes.get(group) || 0) + 1));
    return {numbers, title: `${record.opcode}: ${countText(sizes.size)} ${sizes.size === 1 ? 'group' : 'groups'} of devices that exchange data`,
      describe: (device) => (numbers[device] < 0 ? 'in no group' : `group ${numbers[device]} of ${countText(sizes.get(numbers[device]))} devices`)};
  }

  function coordinatesOf(device) {
    let rest = device;
    const parts = [];
    for (let i = axes.length - 1; i >= 0; --i) {
      if (axes.length > 1 || axes[i].name) parts.unshift(`${axes[i].name || `axis ${i}`} ${rest % axes[i].size}`);
      rest = Math.floor(rest / axes[i].size);
    }
    return parts.length ? ` (${parts.join(', ')})` : '';
  }
  function linesOf(device) {
    const same = shown.numbers[device] < 0 ? 0 : shown.sizes.get(shown.numbers[device]) - 1;
    return [`device ${device}${coordinatesOf(device)}`, shown.describe(device), same && !shown.pairs ? `the same as on ${countText(same)} other${same === 1 ? '' : 's'}` : ''];
  }
  function point(device, event) {
    current = device;
    const grid = byId('mesh-grid');
    const cells = grid.querySelectorAll('i');
    const mine = shown.numbers[device];
    cells.forEach((cell, i) => {
      cell.classList.toggle('current', i === device);
      cell.classList.toggle('same', i !== device && mine >= 0 && shown.numbers[i] === mine && shown.sizes.size > 1);
    });
    byId('mesh-label').textContent = linesOf(device).filter((line) => line).join('; ');
    if (event) tip.show(event, linesOf(device)); else tip.hide();
  }

  function gridText() {
    if (axes.length < 2 || axes.some((axis) => !axis.name)) return '';
    const names = axes.map((axis) => axis.name), last = names.pop();
    return `; ${last} along the rows, ${names.join(' and ')} down the columns`;
  }
  // The columns of a grid without a second axis: a divisor of the devices near the square root.
  function squarish(n) {
    for (let c = Math.ceil(Math.sqrt(n)); c <= 32; ++c) if (n % c === 0) return c;
    return Math.min(n, 32);
  }

  function draw() {
    const choice = byId('mesh-choice').value;
    shown = choice === 'groups' ? viewOfGroups() : viewOfTensor(tensors[+choice] || {type: '', dims: [], sharding: -1});
    shown.sizes = new Map();
    shown.numbers.forEach((n) => shown.sizes.set(n, (shown.sizes.get(n) || 0) + 1));
    byId('mesh-about').replaceChildren(...breakable(shown.title + gridText()));
    const last = axes.length > 1 ? number(axes[axes.length - 1].size) : count;
    columns = axes.length > 1 && last <= WIDEST ? last : squarish(last);
    const grid = byId('mesh-grid');
    grid.style.setProperty('--columns', columns);
    const room = grid.clientWidth / columns;
    grid.classList.toggle('dense', room < 20);
    const devices = Array.from({length: count}, (_, device) => device);
    growingList(grid, byId('mesh-more'), devices, FIRST, (device) => {
      const n = shown.numbers[device];
      // Hues by the golden angle: neighbours differ.
      return el('i', {class: n < 0 ? 'none' : null, style: {'--hue': String(Math.round(n * 137.508 % 360))}}, el('span', {}, n < 0 ? '–' : String(n)));
    });
    byId('mesh-label').textContent = '';
  }

  function options() {
    const option = (tensor, i) => el('option', {value: i}, tensor.name);
    const group = (kind, label) => el('optgroup', {label}, tensors.map((tensor, i) => (tensor.kind === kind ? option(tensor, i) : null)));
    byId('mesh-choice').replaceChildren(
      ...(record && record.groups >= 0 ? [el('optgroup', {label: 'The open row'}, el('option', {value: 'groups'}, `groups of ${recordName(record)}`))] : []),
      group('argument', 'Arguments'), group('result', 'Results'), group('value', 'Values inside, the largest'));
  }
  const deviceAt = (event) => {
    const cell = event.target.closest('i');
    return cell ? Array.prototype.indexOf.call(cell.parentNode.children, cell) : -1;
  };

  return {
    start() {
      byId('mesh').hidden = count < 2;
      if (count < 2) return;
      options();
      const cut = tensors.findIndex((tensor) => data.mesh.shardings[tensor.sharding].kind === 'tiled');
      if (tensors.length) byId('mesh-choice').value = String(Math.max(0, cut));
      else byId('mesh-choice').hidden = true;
      byId('mesh-choice').addEventListener('change', draw);
      const grid = byId('mesh-grid');
      grid.addEventListener('mousemove', (event) => { if (deviceAt(event) >= 0) point(deviceAt(event), event); });
      grid.addEventListener('click', (event) => { if (deviceAt(event) >= 0) point(deviceAt(event), event); });
      grid.addEventListener('mouseleave', tip.hide);
      grid.addEventListener('blur', tip.hide);
      grid.addEventListener('keydown', (event) => {
        const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns}[event.key];
        if (!step) return;
        point(Math.max(0, Math.min(Math.min(count, grid.children.length) - 1, current + step)), null);
        event.preventDefault();
      });
      mesh.resize();
    },
    resize() { if (count >= 2 && (tensors.length || record)) draw(); },
    // Follows the row that is open: its groups may be chosen.
    select(next) {
      if (count < 2) return;
      const last = byId('mesh-choice').value;
      record = next && next.groups >= 0 ? next : null;
      options();
      byId('mesh-choice').hidden = !tensors.length && !record;
      byId('mesh-choice').value = record ? 'groups' : last === 'groups' || last === '' ? '0' : last;
      mesh.resize();
    },
  };
})();
