#!/usr/bin/python3
"""Opens a page that hlo-diff --html wrote in headless Chromium and uses it as a reader would.

    page_check.py PAGE.html [--screenshot=OUT.png] [--open=ID] [--dark] [--width=1280] [--height=0] [--within=SECONDS]

Fails when the console has an error or warning, anything is fetched, choosing, sorting, finding, opening, links, keys or the theme do
not do what they say, or something sticks out at the side, at 400 pixels too. What must be shown is read from the page's own data.
Prints one line for each failure and exits with 1 if there is any. Needs Debian's chromium, chromium-driver and python3-selenium
(setup.sh --test).
"""
import json
import os
import sys

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'pages'))
from browser import check_widths, expect, page_arguments, run_checks, set_width, take_screenshot

SHOWN_ROWS = 60
SECTIONS = ('sent', 'flops', 'memory')


def click(driver, selector):
    driver.execute_script('document.querySelector(arguments[0]).click()', selector)


def press(driver, *keys):
    ActionChains(driver).send_keys(*keys).perform()


def text_of(driver, selector):
    return driver.execute_script('return document.querySelector(arguments[0]).innerText', selector).replace('\u00a0', ' ')


def find(driver, words):
    driver.execute_script("const find = document.getElementById('find'); find.value = arguments[0]; find.dispatchEvent(new Event('input'))", words)


def shown_rows(driver):
    return driver.execute_script("return Array.from(document.querySelectorAll('#rows > li[data-row]'), (row) => +row.dataset.row)")


def bytes_text(count):
    value, units = float(count), ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
    while value >= 999.95 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f'{count} B' if units[0] == 'B' else f'{value:.1f} {units[0]}'


def rows_of(data, section):
    return [row for row in data[section]['rows'] if row['kind'] != 'elsewhere']


def check_summary(driver, data):
    expect(text_of(driver, '#headline').lower() == data['summary'].lower(), f"the headline is {text_of(driver, '#headline')!r}")
    figures = text_of(driver, '#figures')
    for figure in (bytes_text(data['a']['sent_bytes']), bytes_text(data['b']['peak_bytes']), f"{data['b']['instructions']:,}"):
        expect(figure in figures, f'the figures lack {figure}: {figures!r}')
    expect(('step on' in figures) == ('machine' in data), f'the predicted step: {figures!r}')
    matched = text_of(driver, '#matched')
    for key in ('same', 'changed', 'only_b'):
        count = data['instructions'][key]
        expect(not count or f'{count:,} ' in matched, f'the instructions lack {key}: {matched!r}')
    expect(not driver.execute_script(r"return /NaN|undefined|Infinity|\[object/.test(document.body.innerText)"), 'the page shows NaN, undefined, Infinity or an object')
    shown = driver.execute_script("return !document.getElementById('shardings').hidden")
    expect(shown == bool(data['shardings']), f'shardings are {"" if shown else "not "}shown')


def check_section(driver, data, section):
    rows = rows_of(data, section)
    click(driver, f'#sections button[data-key={section}]')
    pressed = driver.execute_script("return Array.from(document.querySelectorAll('#sections button[aria-pressed=true]'), (button) => button.dataset.key)")
    expect(pressed == [section], f'{pressed} are chosen instead of {section}')
    expect(f'({len(rows):,})' in text_of(driver, f'#sections button[data-key={section}]'), f'the button of {section} lacks its number of rows')
    expect(len(shown_rows(driver)) == min(SHOWN_ROWS, len(rows)), f'{section}: {len(shown_rows(driver))} rows are shown of {len(rows)}')
    if not rows:
        expect('No difference' in text_of(driver, '#rows'), f'{section}: the empty list says nothing')
        return
    orders = {'difference': lambda row: -abs(row['difference']), 'more': lambda row: -row['difference'], 'less': lambda row: row['difference']}
    for order, key in orders.items():
        driver.execute_script("const sort = document.getElementById('sort'); sort.value = arguments[0]; sort.dispatchEvent(new Event('change'))", order)
        got = [key(rows[i]) for i in shown_rows(driver)]
        expect(got == sorted(map(key, rows))[:len(got)], f'{section} sorted by {order}: {got[:5]}')
    driver.execute_script("const sort = document.getElementById('sort'); sort.value = 'difference'; sort.dispatchEvent(new Event('change'))")
    row = rows[0]
    for needle in {row['source'], row['name'], (row['parts_a'] + row['parts_b'])[0]['what']} - {''}:
        find(driver, needle)
        expect(0 in shown_rows(driver), f'{section}: {needle!r} does not find its row')
    find(driver, 'no row has \u2603 this')
    expect('No row has these words' in text_of(driver, '#rows'), f'{section}: words of no row find something')
    find(driver, '')


def check_open(driver, data):
    for section in SECTIONS:
        rows = rows_of(data, section)
        if not rows:
            continue
        click(driver, f'#sections button[data-key={section}]')
        first = shown_rows(driver)[0]
        link = driver.execute_script("return document.querySelector('#rows .line').id")
        click(driver, '#rows .line')
        expect(driver.execute_script('return location.hash') == '#' + link, f'{section}: an open row has no link')
        details = text_of(driver, '#rows .details')
        for part in rows[first]['parts_a'] + rows[first]['parts_b']:
            expect(part['what'] in details and part['name'] in details, f"{section}: the open row lacks {part['what']} {part['name']}: {details!r}")
        click(driver, '#rows .line')
        expect(not driver.execute_script("return document.querySelector('#rows .details')"), f'{section}: a second click does not close the row')
        # A link from another section.
        click(driver, f"#sections button[data-key={'flops' if section != 'flops' else 'sent'}]")
        driver.execute_script('location.hash = arguments[0]', link)
        driver.execute_async_script('const done = arguments[0]; setTimeout(done, 100)')
        opened = driver.execute_script("const line = document.querySelector('.line[aria-expanded=true]'); return line && line.id")
        expect(opened == link, f'{section}: the link opens {opened} instead of {link}')
        driver.execute_script("document.querySelector('.line[aria-expanded=true]').click()")


def check_keys(driver, data):
    section = next((section for section in SECTIONS if len(rows_of(data, section)) > 1), None)
    if section is None:
        return
    click(driver, f'#sections button[data-key={section}]')
    driver.execute_script('document.activeElement.blur()')
    press(driver, '/')
    expect(driver.execute_script('return document.activeElement.id') == 'find', '/ does not go to the search box')
    press(driver, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    lines = driver.execute_script("return Array.from(document.querySelectorAll('#rows .line'), (line) => line.getAttribute('aria-expanded'))")
    expect(lines[1] == 'true' and lines.count('true') == 1, f'Enter opens {lines[:3]}')
    press(driver, Keys.ESCAPE)
    expect(not driver.execute_script("return document.querySelector('#rows .details')"), 'Escape does not close the row')
    press(driver, Keys.ARROW_UP, Keys.ARROW_UP)
    expect(driver.execute_script('return document.activeElement.id') == 'find', 'up from the first row does not go to the search box')


def check_theme(driver):
    before = driver.execute_script("return document.documentElement.getAttribute('data-theme')")
    color = driver.execute_script('return getComputedStyle(document.body).backgroundColor')
    click(driver, '#theme')
    expect(driver.execute_script("return document.documentElement.getAttribute('data-theme')") != before, 'the button does not change the theme')
    expect(driver.execute_script('return getComputedStyle(document.body).backgroundColor') != color, 'the theme changes no color')
    click(driver, '#theme')


def main():
    parser = page_arguments(__doc__.split('\n')[0])
    parser.add_argument('--open', help='open the row with this id, or the first one with "first", for the picture')
    arguments = parser.parse_args()

    def check(driver, url):
        data = json.loads(driver.execute_script("return document.getElementById('toroid-data').textContent"))
        check_summary(driver, data)
        for section in SECTIONS:
            check_section(driver, data, section)
        check_open(driver, data)
        check_keys(driver, data)
        check_theme(driver)
        click(driver, '#sections button[data-key=sent]')
        check_widths(driver, arguments.width, (400, 720, 901))
        if rows_of(data, 'sent'):
            click(driver, '#rows .line')
            check_widths(driver, arguments.width, (400,), ' with an open row')
            click(driver, '#rows .line')
        if arguments.open:
            id = driver.execute_script("return document.querySelector('#rows .line').id") if arguments.open == 'first' else arguments.open
            driver.execute_script('location.hash = arguments[0]', id)
            driver.execute_async_script('const done = arguments[0]; setTimeout(done, 100)')
        if arguments.screenshot:
            driver.execute_script('document.activeElement.blur()')
            set_width(driver, arguments.width)
            take_screenshot(driver, arguments.screenshot, arguments.width, arguments.height)

    return run_checks(arguments, check)


if __name__ == '__main__':
    sys.exit(main())
