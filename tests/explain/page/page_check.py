#!/usr/bin/python3
"""Opens a page that hlo-partition --html wrote in headless Chromium and uses it as a reader would.

    page_check.py PAGE.html [--screenshot=OUT.png] [--open=ID] [--only=SELECTOR] [--dark] [--width=1280] [--height=0] [--within=SECONDS]

Fails when the console has an error or warning, anything is fetched, sorting, finding, folding, opening, links, keys, the theme,
the graph, the mesh or the source does not do what it says, or something sticks out at the side, at 400 pixels too. What must be
shown is read from the page's own data. Prints one line for each failure and exits with 1 if there is any. Needs Debian's
chromium, chromium-driver and python3-selenium (setup.sh --test).
"""
import os
import sys

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'pages'))
from browser import check_widths, expect, page_arguments, run_checks, set_width, take_screenshot

SHOWN_ROWS = 60
SHOWN_DEVICES = 2048


def click(driver, selector):
    driver.execute_script('document.querySelector(arguments[0]).click()', selector)


def press(driver, *keys):
    ActionChains(driver).send_keys(*keys).perform()


def find(driver, words):
    """Enters words into the search box and waits for the rows."""
    driver.execute_script('search.set(arguments[0])', words)


def shown_rows(driver):
    return driver.execute_script("return Array.from(document.querySelectorAll('#rows > tbody[data-row]'), (body) => +body.dataset.row)")


def text_of(driver, selector):
    return driver.execute_script('return document.querySelector(arguments[0]).innerText', selector).replace('\u00a0', ' ')


def bytes_text(count):
    value, units = float(count), ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
    while value >= 999.95 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f'{count} B' if units[0] == 'B' else f'{value:.1f} {units[0]}'


def check_summary(driver, data):
    expect(text_of(driver, '#headline').lower() == data['summary'].lower(), f"the headline is {text_of(driver, '#headline')!r}")
    figures = text_of(driver, '#figures')
    expect(bytes_text(data['memory']['peak']) in figures, f"the peak of memory is missing: {figures!r}")
    if 'step_seconds' in data['explanation']:
        expect(data['explanation']['machine'] in figures, 'the predicted step is missing')
    expect(not driver.execute_script("return /NaN|undefined|Infinity|\\[object/.test(document.body.innerText)"), 'the page shows NaN, undefined, Infinity or an object')


def check_diagnosis(driver, data):
    changes = data['explanation']['diagnosis']
    shown = driver.execute_script("return Array.from(document.querySelectorAll('#diagnosis-list li'), (li) => li.textContent)")
    expect(len(shown) == len(changes), f'{len(shown)} changes that were tried instead of {len(changes)}')
    for line, change in zip(shown, changes):
        expect(change['text'] in line.replace('\u200b', ''), f"{change['text']!r} is not in {line!r}")


def check_sorting(driver, data):
    rows = data['explanation']['rows']
    keys = {'opcode': 'opcode', 'count': 'count', 'group': 'group', 'operands': 'operand_bytes', 'sent': 'sent_bytes', 'name': 'name'}
    if 'step_seconds' in data['explanation']:
        keys.update({'seconds': 'seconds', 'share': 'share'})
    if data['explanation'].get('overlapped_step_seconds'):
        keys['hidden'] = 'hidden_seconds'
    for column, key in keys.items():
        for _ in range(2):
            click(driver, f'#rows th button[data-key={column}]')
            marked = driver.execute_script("return Array.from(document.querySelectorAll('#rows th[aria-sort]'), (th) => [th.firstChild.dataset.key, th.getAttribute('aria-sort')])")
            if not expect(len(marked) == 1 and marked[0][0] == column, f'sorted by {column}, {marked} say that they are sorted'):
                continue
            value = lambda i: rows[i][key] if isinstance(rows[i][key], (int, float)) else rows[i][key].encode('utf-16-be')
            wanted = sorted(range(len(rows)), key=value, reverse=marked[0][1] == 'descending')
            got = shown_rows(driver)
            expect([value(i) for i in got] == [value(i) for i in wanted[:len(got)]], f'sorted by {column}, {marked[0][1]}: rows {got[:5]} ... instead of {wanted[:5]} ...')
    click(driver, '#rows th button[data-key=name]')
    click(driver, '#rows th button[data-key=sent]')


def check_rows(driver, data):
    rows = data['explanation']['rows']
    expect(len(shown_rows(driver)) == min(SHOWN_ROWS, len(rows)), f'{len(shown_rows(driver))} rows are shown of {len(rows)}')
    if not rows:
        expect('nothing is sent' in text_of(driver, '#rows').lower(), 'the empty table says nothing')
        return
    first = text_of(driver, '#rows > tbody')
    expect(bytes_text(rows[shown_rows(driver)[0]]['sent_bytes']) in first, f'the first row lacks its bytes: {first!r}')
    check_diagnosis(driver, data)
    check_sorting(driver, data)
    if len(rows) > SHOWN_ROWS:
        click(driver, '#rows-more button')
        expect(len(shown_rows(driver)) == min(2 * SHOWN_ROWS, len(rows)), '"Show more" does not show as many rows again')


def check_find(driver, data):
    rows, program = data['explanation']['rows'], data['program']
    for row in rows[:1] + rows[-1:]:
        for needle in {row['name'], row['source'], row['names'][-1]} - {''}:
            find(driver, needle)
            found = shown_rows(driver)
            expect(rows.index(row) in found or len(found) == SHOWN_ROWS, f'{needle!r} does not find its row')
            for i in found:
                every = '\n'.join([rows[i]['opcode'], rows[i]['name'], rows[i]['step'], rows[i]['source'], *rows[i]['names']]).lower()
                every += driver.execute_script('return rows[arguments[0]].members.map((i) => recordName(records[i])).join("\\n").toLowerCase()', i)
                expect(all(word in every for word in needle.lower().split()), f'{needle!r} finds row {i} without it')
    last = program['name'][-1]
    find(driver, last)
    expect(driver.find_element(By.ID, 'found').is_displayed(), 'found instructions are not shown')
    count = int(text_of(driver, '#found-title').split()[0].replace(',', ''))
    texts = [program[key] for key in ('opcodes', 'op_names', 'shapes', 'sources')]
    columns = [program[key] for key in ('opcode', 'op_name', 'shape', 'source')]
    wanted = sum(all(word in '\n'.join([name] + [text[column[i]] for text, column in zip(texts, columns)]).lower() for word in last.lower().split())
                 for i, name in enumerate(program['name']))
    expect(count == wanted, f'{last!r} finds {count} instructions of {wanted}')
    click(driver, '#found-list a')
    WebDriverWait(driver, 20).until(lambda d: d.find_elements(By.CSS_SELECTOR, '#instruction .graph g.node'))
    expect(driver.find_elements(By.CSS_SELECTOR, '#instruction g.node.middle'), 'the graph of a found instruction lacks it')
    click(driver, '#instruction-close')
    find(driver, 'no row has \u2603 this')
    expect(not shown_rows(driver) and text_of(driver, '#found-title').startswith('0 '), 'words that occur nowhere find something')
    find(driver, '')
    expect(len(shown_rows(driver)) == min(SHOWN_ROWS, len(rows)) and not driver.find_element(By.ID, 'found').is_displayed(), 'an empty search hides rows')


def check_graph(driver, data, record):
    """The graph of the open row shows the collective, what makes its operands and what reads it."""
    if record['op'] < 0:
        return
    WebDriverWait(driver, 20).until(lambda d: d.find_elements(By.CSS_SELECTOR, '#rows .graph g.node'))
    places = {int(node.get_attribute('data-place')) for node in driver.find_elements(By.CSS_SELECTOR, '#rows .graph g.node')}
    expect(record['op'] in places, 'the graph lacks the collective')
    operands = data['program']['operands'][record['op']]
    wanted = operands[record['array']] if record['result'] != record['op'] else operands[0]
    expect(wanted in places, 'the graph lacks what makes the operand')
    boxes = driver.execute_script("return Array.from(document.querySelectorAll('#rows .graph g.node rect:first-child'), (rect) => { const b = rect.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })")
    overlap = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]
    expect(not overlap, f'{len(overlap)} pairs of boxes overlap')
    driver.execute_script("document.querySelector('#rows .graph g.node.middle').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    name = data['program']['name'][record['op']]
    expect(name in text_of(driver, '#rows .graph-about'), f'a click on {name} in the graph does not name it')
    before = len(places)
    click(driver, '#rows .graph-tools button')
    after = len(driver.find_elements(By.CSS_SELECTOR, '#rows .graph g.node'))
    expect(after >= before, 'more above shows less')


def check_open(driver, data, url):
    rows = data['explanation']['rows']
    if not rows:
        return
    ids = driver.execute_script('return rows.map((row) => row.id)')
    expect(len(set(ids)) == len(ids) and all(id.startswith('row-') for id in ids), 'links of rows are not distinct')
    first = shown_rows(driver)[0]
    click(driver, '#rows tr.main')
    record = data['records'][data['rows'][first][0]]
    expect(driver.execute_script('return location.hash') == '#' + ids[first], 'the open row is not in the address')
    expect(driver.find_element(By.CSS_SELECTOR, '#rows tr.main').get_attribute('aria-expanded') == 'true', 'the open row does not say so')
    details = text_of(driver, '#rows tr.details')
    for heading in ('What produced the value', 'What needs it', 'Source line'):
        expect(heading in details, f'the open row lacks {heading!r}')
    expect(record['cause'] in driver.execute_script("return document.querySelector('#rows tr.details').textContent"), 'the open row lacks its cause')
    check_graph(driver, data, record)
    click(driver, '#rows tr.main')
    expect(not driver.find_elements(By.CSS_SELECTOR, '#rows tr.details') and not driver.execute_script('return location.hash'), 'a second click does not close the row')
    # A link opens its row, wherever it is in the table; one to a collective of a row unfolds the row.
    driver.get(url + '#' + ids[-1])
    driver.refresh()
    expect(driver.execute_script("const line = document.querySelector('#rows tr[aria-expanded=true]'); return line && line.id") == ids[-1], 'a link does not open its row')
    expect(driver.execute_script("const box = document.querySelector('#rows tr[aria-expanded=true]').getBoundingClientRect(); return box.top >= 0 && box.top < innerHeight"),
           'the row of a link is not on the screen')
    several = next((i for i, members in enumerate(data['rows']) if len(members) > 1), None)
    if several is not None:
        driver.get(f'{url}#{ids[several]}.2')
        driver.refresh()
        expect(driver.execute_script("const line = document.querySelector('#rows tr[aria-expanded=true]'); return line && line.id") == ids[several] + '.2', 'a link to a collective of a row does not open it')
        mine = data['records'][data['rows'][several][1]]
        expect(mine['cause'] in driver.execute_script("return document.querySelector('#rows tr.details').textContent"), 'the second collective of a row shows another cause')
    driver.get(url + '#row-nothing')
    driver.refresh()
    expect(driver.execute_script("return document.documentElement.getAttribute('data-ready')") == 'true', 'a link to nothing stops the page')
    driver.get(url)
    driver.refresh()


def focused(driver):
    return driver.execute_script('return document.activeElement.id')


def check_keys(driver, data):
    ids = driver.execute_script('return rows.map((row) => row.id)')
    press(driver, '/')
    expect(focused(driver) == 'find', '/ does not lead to the search box')
    if not ids:
        return
    press(driver, Keys.ARROW_DOWN)
    order = shown_rows(driver)
    expect(focused(driver) == ids[order[0]], 'Down does not lead from the search box to the first row')
    if len(order) > 1:
        press(driver, Keys.ARROW_DOWN)
        expect(focused(driver) == ids[order[1]], 'Down does not lead to the next row')
        press(driver, Keys.ARROW_UP)
        expect(focused(driver) == ids[order[0]], 'Up does not lead back')
    press(driver, Keys.ENTER)
    expect(driver.find_elements(By.CSS_SELECTOR, '#rows tr.details'), 'Enter does not open the row')
    press(driver, Keys.TAB, Keys.TAB, Keys.ESCAPE)
    expect(not driver.find_elements(By.CSS_SELECTOR, '#rows tr.details'), 'Escape does not close the row')
    expect(focused(driver) == ids[order[0]], 'Escape loses the row')
    several = len(data['rows'][order[0]])
    press(driver, Keys.ARROW_RIGHT)
    members = len(driver.find_elements(By.CSS_SELECTOR, '#rows tr.member'))
    expect(members == (min(several, 20) if several > 1 else 0), f'Right shows {members} collectives of {several}')
    press(driver, Keys.ARROW_LEFT)
    expect(not driver.find_elements(By.CSS_SELECTOR, '#rows tr.member'), 'Left does not fold the row')


def check_theme(driver, dark):
    look = "return [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    before = driver.execute_script(look)
    expect(before[0] == ('dark' if dark else 'light'), f'the page is {before[0]}')
    click(driver, '#theme')
    after = driver.execute_script(look)
    expect(all(a != b for a, b in zip(before, after)), 'the button does not change the colors')
    click(driver, '#theme')
    expect(driver.execute_script(look) == before, 'the button does not lead back')


def tile_of(sharding, device, devices):
    """The tile on a device, from the definition of a tile assignment."""
    copies = devices
    for tiles in sharding['tiles']:
        copies //= tiles
    if 'devices' in sharding:
        return sharding['devices'].index(device) // copies
    sizes, perm = sharding['reshape'], sharding['perm']
    index = []
    for size in reversed(sizes):
        index.insert(0, device % size)
        device //= size
    position = 0
    for p in perm:
        position = position * sizes[p] + index[p]
    return position // copies


def check_mesh(driver, data):
    mesh = data['mesh']
    if mesh['devices'] < 2:
        expect(not driver.find_element(By.ID, 'mesh').is_displayed(), 'one device is drawn as a mesh')
        return
    cut = [i for i, tensor in enumerate(mesh['tensors']) if mesh['shardings'][tensor['sharding']]['kind'] == 'tiled']
    for i in cut[:2] + cut[-1:]:
        tensor = mesh['tensors'][i]
        sharding = mesh['shardings'][tensor['sharding']]
        driver.execute_script('const choice = byId("mesh-choice"); choice.value = arguments[0]; choice.dispatchEvent(new Event("change"))', str(i))
        cells = driver.execute_script("return Array.from(document.querySelectorAll('#mesh-grid > i'), (cell) => cell.textContent)")
        if not expect(len(cells) == min(SHOWN_DEVICES, mesh['devices']), f"{len(cells)} devices are drawn of {mesh['devices']}"):
            return
        wanted = [str(tile_of(sharding, device, mesh['devices'])) for device in range(len(cells))]
        expect(cells == wanted, f"{tensor['name']}: parts {cells[:6]} ... instead of {wanted[:6]} ...")
        device = len(cells) - 1
        driver.execute_script("document.querySelectorAll('#mesh-grid > i')[arguments[0]].dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: 50, clientY: 50}))", device)
        tip = text_of(driver, '#tip')
        expect(f'device {device}' in tip and f'part {wanted[device]}:' in tip, f'the pointer at device {device} shows {tip!r}')
        index, tile = [], int(wanted[device])
        for size in reversed(sharding['tiles']):
            index.insert(0, tile % size)
            tile //= size
        for k, size, dim in zip(index, sharding['tiles'], tensor['dims']):
            shard = -(-dim // size)
            if size > 1 and k * shard < dim:
                expect(f'{k * shard}:{min(dim, (k + 1) * shard)}' in tip, f"{tensor['name']}: {tip!r} lacks the slice of part {wanted[device]}")
        driver.execute_script('tip.hide()')


def check_source(driver, data):
    named = [file for file in data['files'] if file['lines']]
    if not named:
        expect(not driver.find_element(By.ID, 'source').is_displayed(), 'source is shown though no line is known')
        return
    file = max(named, key=lambda one: sum(line[1] for line in one['lines']))
    first = driver.execute_script('return byId("source-choice").options[0].value')
    expect(data['files'][int(first)] == file, 'the first file is not the one whose lines send most')
    driver.execute_script('const choice = byId("source-choice"); choice.value = arguments[0]; choice.dispatchEvent(new Event("change"))', first)
    shown = driver.execute_script("return Array.from(document.querySelectorAll('#source-text .sent button'), (button) => button.innerText)")
    wanted = {bytes_text(sent) for _, sent in file['lines']}
    expect({text.replace('\u00a0', ' ') for text in shown} == wanted or len(file['lines']) > 50, f'the margin shows {shown[:4]} instead of {sorted(wanted)[:4]}')
    if 'missing' in file:
        expect(file['missing'] in text_of(driver, '#source-text'), 'the page does not say why a file is missing')
    else:
        line = file['parts'][0]['lines'][0]
        expect(line.strip() in text_of(driver, '#source-text'), 'the text of the file is not shown')
    click(driver, '#source-text .sent button')
    expect(driver.execute_script("return byId('find').value").startswith(file['name'] + ':'), 'a figure in the margin does not find its rows')
    expect(shown_rows(driver), 'a figure in the margin finds no rows')
    find(driver, '')


def check_width(driver, data, width):
    check_widths(driver, width, (1100, 700, 400))
    if data['explanation']['rows']:
        click(driver, '#rows tr.main')
        check_widths(driver, width, (1100, 700, 400), ', with an open row')


def show(driver, row):
    """Opens a row by its link, or by its place."""
    if row.isdigit():
        driver.execute_script("document.querySelectorAll('#rows tr.main')[+arguments[0]].click()", row)
    elif row:
        driver.execute_script('location.hash = arguments[0]', row)


def main():
    parser = page_arguments(__doc__.split('\n')[0])
    parser.add_argument('--open', default='', help='for the picture: the link of a row to open, or a number for the row at that place')
    parser.add_argument('--only', default='', help='for the picture: the element to show alone, such as .pair')
    arguments = parser.parse_args()

    def check(driver, url):
        data = driver.execute_script('return window.TOROID_DATA')
        if arguments.screenshot:
            show(driver, arguments.open)
            take_screenshot(driver, arguments.screenshot, arguments.width, arguments.height, arguments.only)
            driver.get('about:blank')
            driver.get(url)
            set_width(driver, arguments.width)
        check_summary(driver, data)
        check_rows(driver, data)
        check_find(driver, data)
        check_open(driver, data, url)
        check_keys(driver, data)
        check_theme(driver, arguments.dark)
        check_mesh(driver, data)
        check_source(driver, data)
        check_width(driver, data, arguments.width)

    return run_checks(arguments, check)


if __name__ == '__main__':
    sys.exit(main())
