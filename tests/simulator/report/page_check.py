#!/usr/bin/python3
"""Opens a page that hlo-simulate --report wrote in headless Chromium and uses it as a reader would.

    page_check.py PAGE.html [--screenshot=OUT.png] [--dark] [--width=1280] [--height=0] [--within=SECONDS]

Fails when the console has an error or warning, anything is fetched, a plot stays empty, the slider of the mesh, sorting,
filtering, grouping, paging or selecting does not do what it says, or something sticks out at the side. What must work is
read from the page's own data: a module without collectives has no slider. Prints one line for each failure and exits
with 1 if there is any. Needs Debian's chromium, chromium-driver and python3-selenium (setup.sh --test).
"""
import os
import sys

from selenium.webdriver.common.by import By

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'pages'))
from browser import check_widths, expect, page_arguments, run_checks, set_width, take_screenshot

# How many distinct colors a canvas has; 1 is an empty one.
COLORS = '''
  const canvas = document.querySelector(arguments[0]);
  if (!canvas || !canvas.width || !canvas.height) return 0;
  const copy = document.createElement('canvas');
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext('2d', {willReadFrequently: true});
  context.drawImage(canvas, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer);
  const seen = new Set();
  let hash = 0;
  for (const pixel of pixels) { seen.add(pixel); hash = (Math.imul(hash, 31) + pixel) | 0; }
  return [seen.size, hash];
'''


def colors(driver, selector):
    return driver.execute_script(COLORS, selector) or [0, 0]


def body_rows(driver):
    """Texts of the table's cells, row by row, without rows of details."""
    return driver.execute_script('''
      return Array.from(document.querySelectorAll('#rows tbody tr:not(.details)')).filter((tr) => tr.cells.length > 1)
        .map((tr) => Array.from(tr.cells, (td) => td.textContent));''')


def click(driver, selector):
    driver.execute_script('document.querySelector(arguments[0]).click()', selector)


def enter(driver, selector, value, event='input'):
    driver.execute_script('''
      const field = document.querySelector(arguments[0]);
      if (field.type === 'checkbox') field.checked = arguments[1]; else field.value = arguments[1];
      field.dispatchEvent(new Event(arguments[2]));''', selector, value, event)


def row_data(driver):
    """Every row of the data as the table's columns give it: the value it is sorted by; `share`: of its time what nothing hides."""
    return driver.execute_script('''
      const d = window.TOROID_DATA, s = (v) => v === undefined || v === null ? '' : String(v), n = (v) => +v || 0;
      const row = (r, c) => ({seconds: n(r.seconds), kind: s(c ? r.kind : r.class || r.opcode) || 'other', name: s(r.instruction),
        source: s(r.source), opName: s(r.op_name), cause: s(r.cause), executions: n(r.executions), collective: c,
        share: exposedShare(s(c ? r.kind : r.class || r.opcode) || 'other')});
      return (d.groups || []).map((r) => row(r, false)).concat((d.collectives || []).map((r) => row(r, true)));''')


def check_overview(driver, rows):
    expect(driver.find_element(By.ID, 'headline').text.strip(), 'there is no headline')
    if not any(row['seconds'] > 0 for row in rows):
        return
    sources = {}
    for row in rows:
        if row['source']:
            sources[row['source']] = sources.get(row['source'], 0) + row['seconds'] * row['share']
    if sources:
        costliest = max(sources, key=sources.get)
        shown = driver.find_element(By.CSS_SELECTOR, '#costliest strong').get_property('textContent')
        expect(abs(sources.get(shown, -1) - sources[costliest]) <= 1e-9 * sources[costliest],
               f'the costliest source line is {costliest}, the page says {shown}')
    for part in ('breakdown', 'sources'):
        expect(driver.find_elements(By.CSS_SELECTOR, f'#{part} .bar'), f'{part} has no bars')
    expect(not driver.execute_script("return /NaN|undefined|Infinity/.test(document.querySelector('main').innerText + document.querySelector('header').innerText)"),
           'the page shows NaN, undefined or Infinity')


def check_sorting(driver, rows):
    for column in ('seconds', 'share', 'kind', 'bound', 'name', 'source', 'opName', 'cause', 'executions'):
        for _ in range(2):
            click(driver, f'#rows th button[data-key={column}]')
            direction = driver.execute_script("return document.querySelector('#rows th button[data-key=\"' + arguments[0] + '\"]').parentNode.getAttribute('aria-sort')", column)
            if not expect(direction in ('ascending', 'descending'), f'column {column} does not say that it is sorted'):
                return
            marked = driver.find_elements(By.CSS_SELECTOR, '#rows th[aria-sort]')
            expect(len(marked) == 1, f'{len(marked)} columns say that they are sorted')
            shown = body_rows(driver)
            if column in ('share', 'bound'):
                continue
            values = [row[column] for row in rows]
            if column in ('seconds', 'executions'):
                wanted = sorted(values, reverse=direction == 'descending')
            else:
                # Rows without the text come last; JavaScript compares by UTF-16 units.
                key = lambda value: value.encode('utf-16-be')
                wanted = sorted((v for v in values if v), key=key, reverse=direction == 'descending') + [v for v in values if not v]
            if column == 'seconds':
                got = driver.execute_script("return Array.from(document.querySelectorAll('#rows tr[data-seconds]'), (tr) => +tr.dataset.seconds)")
            elif column == 'executions':
                got = [int(cells[8].replace(',', '')) for cells in shown]
            else:
                got = [cells[{'kind': 2, 'name': 4, 'source': 5, 'opName': 6, 'cause': 7}[column]] for cells in shown]
                if column == 'opName':  # The table shows the end of it.
                    wanted = ['/'.join(value.split('/')[-2:]) for value in wanted]
            expect(got == wanted[:len(got)], f'sorted by {column}, {direction}: {got[:3]} ... instead of {wanted[:3]} ...')
    click(driver, '#rows th button[data-key=name]')
    click(driver, '#rows th button[data-key=seconds]')


def check_table(driver, rows):
    shown = body_rows(driver)
    if not expect(len(shown) == min(50, len(rows)), f'{len(shown)} rows are shown of {len(rows)}'):
        return
    if not rows:
        return
    check_sorting(driver, rows)
    # Filtering.
    for needle in {rows[0]['name'], rows[-1]['source'], rows[len(rows) // 2]['kind']} - {''}:
        enter(driver, '#table-filter', needle)
        count = driver.find_element(By.ID, 'table-count').get_property('textContent')
        words = needle.lower().split()
        for cells in driver.execute_script('''return Array.from(document.querySelectorAll('#rows tbody tr:not(.details)'), (tr) =>
            Array.from(tr.cells, (td) => td.textContent + ' ' + td.title))'''):
            expect(all(word in '\n'.join(cells).lower() for word in words), f'the filter {needle!r} lets {cells} through')
        expect(not count.startswith('0 '), f'the filter {needle!r} finds nothing')
    enter(driver, '#table-filter', 'no row has \u2603 this')
    expect(not body_rows(driver), 'a filter that nothing matches leaves rows')
    enter(driver, '#table-filter', '')
    kind = rows[0]['kind']
    enter(driver, '#table-class', kind, 'change')
    expect({cells[2] for cells in body_rows(driver)} == {kind}, f'the choice of {kind} shows other kinds')
    collectives = sum(row['collective'] for row in rows)
    enter(driver, '#table-class', '=communication', 'change')
    expect(driver.find_element(By.ID, 'table-count').get_property('textContent').replace(',', '').startswith(f'{collectives} of'),
           f'the choice of communication does not show {collectives} rows')
    enter(driver, '#table-class', 'all', 'change')
    # Grouping: sums of the rows.
    enter(driver, '#table-grouped', True, 'change')
    sums = {}
    for row in rows:
        sums[row['source']] = sums.get(row['source'], 0) + row['seconds'] * row['share']
    got = driver.execute_script("return Array.from(document.querySelectorAll('#rows tr.entry'), (tr) => +tr.dataset.seconds)")
    wanted = sorted(sums.values(), reverse=True)[:len(got)]
    expect(len(got) == min(50, len(sums)) and all(abs(a - b) <= 1e-6 * max(b, 1e-12) for a, b in zip(got, wanted)),
           f'grouped by source line: {got[:3]} ... instead of {wanted[:3]} ...')
    click(driver, '#rows tr.entry')
    expect(driver.find_elements(By.CSS_SELECTOR, '#rows tr.child'), 'a source line does not open')
    click(driver, '#rows tr.entry')
    expect(not driver.find_elements(By.CSS_SELECTOR, '#rows tr.child'), 'a source line does not close')
    enter(driver, '#table-grouped', False, 'change')
    # Pages.
    if len(rows) > 50:
        first = body_rows(driver)
        click(driver, '#table-pages [data-page=next]')
        expect(body_rows(driver) != first, 'the next page is the same')
        click(driver, '#table-pages [data-page=last]')
        expect(len(body_rows(driver)) == (len(rows) - 1) % 50 + 1, 'the last page has the wrong number of rows')
        click(driver, '#table-pages [data-page=first]')
        expect(body_rows(driver) == first, 'the first page is not found again')
    # Selecting.
    click(driver, '#rows tbody tr')
    expect(len(driver.find_elements(By.CSS_SELECTOR, '#rows tr.selected')) == 1, 'a click on a row does not select it')
    expect(driver.find_elements(By.CSS_SELECTOR, '#rows tr.details dd'), 'the selected row has no details')
    expect(driver.find_element(By.ID, 'selection').is_displayed(), 'the selected row is not named at the bottom')
    click(driver, '#selection-clear')
    expect(not driver.find_elements(By.CSS_SELECTOR, '#rows tr.selected'), 'Clear leaves the row selected')


def check_timeline(driver):
    events = driver.execute_script('return ((window.TOROID_DATA.timeline || {}).events || []).length')
    if events == 0:
        return
    before = colors(driver, '#timeline canvas')
    expect(before[0] > 3, 'the timeline is empty')
    if events == 1:  # It fills the picture at any zoom.
        return
    click(driver, '#timeline [data-zoom="2"]')
    zoomed = colors(driver, '#timeline canvas')
    expect(zoomed[1] != before[1], 'the timeline does not zoom')
    driver.execute_script('''
      const pad = document.querySelector('#timeline .pad'), box = pad.getBoundingClientRect();
      const at = (type, x) => (type === 'mousedown' ? pad : window).dispatchEvent(new MouseEvent(type,
        {bubbles: true, view: window, clientX: box.left + x, clientY: box.top + 20}));
      at('mousedown', 300); at('mousemove', 180); at('mouseup', 180);''')
    expect(colors(driver, '#timeline canvas')[1] != zoomed[1], 'the timeline does not move when dragged')
    click(driver, '#timeline [data-zoom="0"]')
    driver.execute_script('scrollTo(0, 0)')
    # The wheel zooms with Ctrl alone; without it the page scrolls.
    for ctrl in (False, True):
        whole = colors(driver, '#timeline canvas')
        driver.execute_script('''
          const pad = document.querySelector('#timeline .pad'), box = pad.getBoundingClientRect();
          pad.dispatchEvent(new WheelEvent('wheel', {bubbles: true, cancelable: true, view: window, ctrlKey: arguments[0], deltaY: -300,
            clientX: box.left + box.width / 3, clientY: box.top + 20}));''', ctrl)
        expect((colors(driver, '#timeline canvas')[1] != whole[1]) == ctrl, f"the wheel {'does not zoom with' if ctrl else 'zooms without'} Ctrl")
    click(driver, '#timeline [data-zoom="0"]')
    # The middle of the longest event, wherever it is.
    name = driver.execute_script('''
      const d = window.TOROID_DATA, e = d.timeline.events.reduce((a, b) => (b[1] > a[1] ? b : a));
      const end = Math.max(d.step_seconds, ...d.timeline.events.slice(-1).map((x) => x[0] + x[1]));
      const pad = document.querySelector('#timeline .pad'), box = pad.getBoundingClientRect();
      pad.dispatchEvent(new MouseEvent('click', {bubbles: true, view: window,
        clientX: box.left + (e[0] + e[1] / 2) / end * box.width, clientY: box.top + (e[2] === 0 ? 20 : 75)}));
      return (e[2] === 0 ? d.groups : d.collectives)[e[3]].instruction;''')
    chosen = driver.find_elements(By.CSS_SELECTOR, '#rows tr.selected')
    if expect(len(chosen) == 1, 'a click on the timeline selects no row of the table') and driver.execute_script(
            'return window.TOROID_DATA.timeline.events.length < 5000'):
        got = chosen[0].find_elements(By.TAG_NAME, 'td')[4].get_property('textContent')
        expect(got == name, f'a click on {name} in the timeline selects {got}')
    click(driver, '#selection-clear')


def check_mesh(driver):
    events = driver.execute_script('''
      const d = window.TOROID_DATA;
      return (d.network && (d.network.link_loads || []).length && (d.collectives || []).length) ?
        ((d.timeline || {}).events || []).filter((e) => e[2] === 1) : [];''')
    slider = driver.find_element(By.ID, 'mesh-slider')
    if not expect(slider.is_displayed() == bool(events), f"the slider is {'shown' if slider.is_displayed() else 'missing'}, with {len(events)} collectives"):
        return
    if not events:
        return
    expect(driver.find_element(By.ID, 'mesh-label').get_attribute('data-collective') != '-1', 'the page does not start at a collective')
    expect(colors(driver, '#mesh .plot canvas')[0] > 2, 'the mesh is empty')
    pictures = {}
    for start, seconds, _, row in events[::max(1, len(events) // 12)]:
        enter(driver, '#mesh-slider', start + seconds / 2)
        label = driver.find_element(By.ID, 'mesh-label')
        instruction, load = driver.execute_script(
            'const c = window.TOROID_DATA.collectives[arguments[0]]; return [c.instruction, c.link_load]', row)
        expect(instruction in label.get_property('textContent'), f'the slider at {start + seconds / 2} s does not show {instruction}')
        expect(label.get_attribute('data-collective') == str(row), f'the slider at {start + seconds / 2} s shows another collective')
        pictures.setdefault(load, set()).add(colors(driver, '#mesh .plot canvas')[1])
    expect(all(len(drawn) == 1 for drawn in pictures.values()), 'one load of the links is drawn in several ways')
    # Loads that are closer than a color shows may look alike.
    loads = driver.execute_script('return window.TOROID_DATA.network.link_loads')
    for one in pictures:
        for other in pictures:
            if one < 0 or other < 0 or max(abs(a - b) for a, b in zip(loads[one], loads[other])) < 0.05:
                continue
            expect(pictures[one] != pictures[other], f'the loads {one} and {other} of the links look the same')
    before = slider.get_property('value')
    click(driver, '#mesh-previous')
    expect(len(events) == 1 or float(slider.get_property('value')) < float(before), 'the button to the previous collective does not move the slider')
    click(driver, '#mesh-next')
    expect(abs(float(slider.get_property('value')) - float(before)) <= 1e-9 + 1e-6 * float(before), 'the button to the next collective does not lead back')
    click(driver, '#mesh-mean')
    expect(driver.find_element(By.ID, 'mesh-label').get_property('textContent').startswith('Mean over the step'), 'the mean over the step is not shown')
    click(driver, '#mesh-moment')


def check_plots(driver):
    has = driver.execute_script('''
      const d = window.TOROID_DATA, n = (v) => +v || 0;
      return [(d.groups || []).some((g) => n(g.flops) > 0 && n(g.bytes) > 0 && n(g.seconds) > 0) && n((d.ridge || {}).flops_per_second) > 0,
              ((d.memory || {}).samples || []).length > 0];''')
    expect(not has[0] or colors(driver, '#roofline canvas')[0] > 2, 'the roofline is empty')
    expect(not has[1] or len(driver.find_elements(By.CSS_SELECTOR, '#memory .plot path')) >= 2, 'memory over time is empty')


def main():
    arguments = page_arguments(__doc__.split('\n')[0]).parse_args()

    def check(driver, url):
        if arguments.screenshot:
            take_screenshot(driver, arguments.screenshot, arguments.width, arguments.height)
            set_width(driver, arguments.width)
        rows = row_data(driver)
        check_overview(driver, rows)
        check_table(driver, rows)
        check_timeline(driver)
        check_mesh(driver)
        check_plots(driver)
        check_widths(driver, arguments.width, (1100, 700))

    return run_checks(arguments, check)


if __name__ == '__main__':
    sys.exit(main())
