"""Headless Chromium for the checks of pages, and what they count: failures, errors on the console, what is fetched.

Needs Debian's chromium, chromium-driver and python3-selenium (setup.sh --test).
"""
import json
import os

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

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
