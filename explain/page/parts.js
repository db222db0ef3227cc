// parts.js: elements out of the page's data, lists that grow on demand, the tooltip, bytes as text; also of the page of a difference.

// An element; `attributes` may hold listeners by on... names. Children are elements, texts, or nothing.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  setAll(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}
function svg(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAll(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [property, v] of Object.entries(value)) element.style.setProperty(property, v);
    else element.setAttribute(name, value === true ? '' : value);
  }
}
const byId = (id) => document.getElementById(id);

// Shows the first `first` of `items` by `draw(item)`, which returns elements to append to `parent`, and a button in `more` for as many again.
function growingList(parent, more, items, first, draw) {
  let shown = 0;
  parent.replaceChildren();
  function grow(count) {
    const end = Math.min(items.length, shown + count);
    const parts = document.createDocumentFragment();
    for (; shown < end; ++shown) parts.append(draw(items[shown], shown));
    parent.append(parts);
    more.replaceChildren();
    if (shown === items.length) return;
    more.append(el('button', {type: 'button', onclick: () => grow(Math.max(first, shown))},
      `Show ${countText(Math.min(Math.max(first, shown), items.length - shown))} more`),
      ` ${countText(items.length - shown)} are not shown`);
  }
  grow(first);
  return {growTo(count) { if (count > shown) grow(count - shown); }};
}

// A path of names may break behind its separators.
function breakable(string) {
  const parts = [];
  for (const part of string.split(/(?<=[/.\]])/)) parts.push(part, el('wbr'));
  parts.pop();
  return parts;
}

// A tooltip at the pointer or at an element: the first line in bold.
const tip = {
  show(event, lines) {
    const box = byId('tip');
    box.replaceChildren(...lines.filter((line) => line).map((line, i) => el(i === 0 ? 'b' : 'span', {}, line)));
    box.hidden = false;
    const size = box.getBoundingClientRect();
    const at = event.clientX ? {x: event.clientX, y: event.clientY} : event.target.getBoundingClientRect();
    const x = at.x + 14, y = at.y + 14;
    box.style.left = Math.max(4, x + size.width > innerWidth - 6 ? innerWidth - 6 - size.width : x) + 'px';
    box.style.top = Math.max(4, y + size.height > innerHeight - 6 ? at.y - size.height - 10 : y) + 'px';
  },
  hide() { byId('tip').hidden = true; },
};

// Colors of kinds, after Okabe and Ito.
const KIND_COLORS = {'all-to-all': '#d55e00', 'all-reduce': '#e69f00', 'all-gather': '#cc79a7', 'reduce-scatter': '#0072b2',
  'collective-permute': '#009e73'};
const kindColor = (opcode) => KIND_COLORS[opcode.replace(/-(start|done)$/, '')] || '#8d99a5';
const isCollective = (opcode) => kindColor(opcode) !== '#8d99a5' || /^(collective|ragged)-/.test(opcode);

// As the table of the command has them: 999 B, 1.0 kB.
function bytesText(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = number(bytes), i = 0;
  while (value >= 999.95 && i + 1 < units.length) { value /= 1000; ++i; }
  return `${i === 0 ? Math.round(value) : value.toFixed(1)}\u00a0${units[i]}`;
}

// 32 bits of FNV-1a as text: the same row has the same link in every page of the program.
function hashOf(string) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < string.length; ++i) hash = Math.imul(hash ^ string.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
