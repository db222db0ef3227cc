"""Headless Chromium for the checks of pages, and what they count: failures, errors on the console, what is fetched.

Needs Debian's chromium, chromium-driver and python3-selenium (setup.sh --test).
"""
import argparse
import json
import os
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
    return condition


def set_width(driver, width, height=900):
    """Gives the window a size, and the page time to follow it."""
    driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})
    driver.execute_async_script('const done = arguments[0]; setTimeout(done, 400)')


def start_browser(folder, width, dark):
    options = webdriver.ChromeOptions()
    options.binary_location = '/usr/bin/chromium'
    for argument in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-device-scale-factor=1',
                     '--hide-scrollbars', '--no-first-run', '--disable-background-networking', f'--user-data-dir={folder}/profile',
                     f'--window-size={width},900'):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    os.environ.setdefault('HOME', folder)  # Tests may run without one.
    driver = webdriver.Chrome(service=Service('/usr/bin/chromedriver', log_path=os.devnull), options=options)
    driver.set_page_load_timeout(300)
    driver.set_script_timeout(300)
    set_width(driver, width)
    driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [
        {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'},
        {'name': 'prefers-reduced-motion', 'value': 'reduce'}]})
    return driver


def check_console(driver, url):
    for entry in driver.get_log('browser'):
        expect(entry['level'] not in ('SEVERE', 'WARNING'), f"console: {entry['level']}: {entry['message']}")
    for entry in driver.get_log('performance'):
        message = json.loads(entry['message'])['message']
        if message['method'] == 'Network.requestWillBeSent' and message['params'].get('documentURL') == url:
            fetched = message['params']['request']['url']
            expect(fetched.split('#')[0] == url or fetched.startswith('data:'), f'the page fetches {fetched}')


def take_screenshot(driver, path, width, height, only=''):
    """A picture of the window; of the element that the selector `only` finds, if there is one."""
    height = height or driver.execute_script('return document.documentElement.scrollHeight')
    set_width(driver, width, height)
    driver.execute_script('scrollTo(0, 0)')
    driver.find_element('css selector', only).screenshot(path) if only else driver.save_screenshot(path)


def check_widths(driver, width, widths, when=''):
    """Nothing sticks out at the side at `width`, which the window has in the end, and at `widths`."""
    for w in (width, *widths):
        set_width(driver, w)
        wide = driver.execute_script('return document.documentElement.scrollWidth')
        expect(wide <= w, f'at {w} pixels the page is {wide} wide{when}')
    set_width(driver, width)


def page_arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument('page')
    parser.add_argument('--screenshot', help='write a picture of the page to this file')
    parser.add_argument('--dark', action='store_true', help='with the dark color scheme')
    parser.add_argument('--width', type=int, default=1280, help='of the window, in pixels')
    parser.add_argument('--height', type=int, default=0, help='of the picture, in pixels; 0: the whole page')
    parser.add_argument('--within', type=float, default=0, help='fail if the page needs more seconds to open; 0: no limit')
    return parser


def run_checks(arguments, check):
    """Opens the page and calls check(driver, url) once it is ready. Prints the failures; returns the exit status."""
    url = 'file://' + os.path.abspath(arguments.page)
    with tempfile.TemporaryDirectory() as folder:
        driver = start_browser(folder, arguments.width, arguments.dark)
        try:
            start = time.monotonic()
            driver.get(url)
            WebDriverWait(driver, 300).until(lambda d: d.execute_script('return document.readyState') == 'complete')
            ready = driver.execute_script("return document.documentElement.getAttribute('data-ready')") == 'true'
            seconds = time.monotonic() - start
            expect(not arguments.within or seconds <= arguments.within, f'the page needs {seconds:.1f} s to open')
            if expect(ready, 'the page does not get ready'):
                check(driver, url)
            check_console(driver, url)
        finally:
            driver.quit()
    for failure in failures:
        print(f'{os.path.basename(arguments.page)}: {failure}')
    print(f"{os.path.basename(arguments.page)}: {'FAILED' if failures else 'ok'}")
    return 1 if failures else 0
