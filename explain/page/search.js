// search.js: the words of the search box, in rows and in instructions.

const search = (() => {
  let words = [];
  let haystacks = null;  // By instruction, made at the first search.
  const FIRST = 12;

  function haystackOf(i) {
    return [nodes.name(i), nodes.opcode(i), nodes.authorName(i), nodes.shape(i), nodes.source(i)].join('\n').toLowerCase();
  }
  function findInstructions() {
    if (!haystacks) haystacks = Array.from({length: instructionCount}, (_, i) => haystackOf(i));
    const found = [];
    for (let i = 0; i < instructionCount; ++i) {
      if (words.every((word) => haystacks[i].includes(word))) found.push(i);
    }
    return found;
  }
  function instructionItem(i) {
    return el('li', {}, el('a', {href: nodes.link(i)}, nodes.name(i)), ' ',
      el('span', {class: 'soft'}, [nodes.opcode(i), nodes.shape(i), nodes.source(i)].filter((part) => part).join('  ')));
  }
  function drawFound() {
    const section = byId('found');
    section.hidden = !words.length;
    if (!words.length) return;
    const found = findInstructions();
    byId('found-title').textContent = found.length === 1 ? '1 instruction found' : `${countText(found.length)} instructions found`;
    growingList(byId('found-list'), byId('found-more'), found, FIRST, instructionItem);
  }

  let pending = 0;
  return {
    matches: (row) => words.every((word) => row.haystack.includes(word)),
    isEmpty: () => !words.length,
    set(query) {
      byId('find').value = query;
      search.run();
    },
    run() {
      clearTimeout(pending);
      words = byId('find').value.toLowerCase().split(/\s+/).filter((word) => word);
      table.draw();
      drawFound();
    },
    start() {
      const field = byId('find');
      field.addEventListener('input', () => {
        clearTimeout(pending);
        pending = setTimeout(search.run, instructionCount > 20000 ? 150 : 40);
      });
      field.addEventListener('keydown', (event) => {
        if (event.key === 'Escape' && field.value) search.set('');
        else if (event.key === 'Enter') search.run();
        else if (event.key === 'ArrowDown') table.focusFirst();
        else return;
        event.preventDefault();
        event.stopPropagation();
      });
    },
  };
})();
