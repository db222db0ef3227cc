'use strict';
// theme.js: light or dark, as the system is or as the reader chose with the button #theme. It runs in the head, so that a page is never
// drawn in the wrong colors; parts that draw on a canvas listen to the event 'themechange' of the window.

const theme = {
  KEY: 'toroid-theme',
  system: matchMedia('(prefers-color-scheme: dark)'),
  chosen: null,

  isDark() { return (theme.chosen || (theme.system.matches ? 'dark' : 'light')) === 'dark'; },
  apply() {
    document.documentElement.setAttribute('data-theme', theme.isDark() ? 'dark' : 'light');
    const button = document.getElementById('theme');
    if (button) {
      button.textContent = theme.isDark() ? 'Light' : 'Dark';
      button.setAttribute('aria-label', `Use ${theme.isDark() ? 'light' : 'dark'} colors`);
    }
    window.dispatchEvent(new Event('themechange'));
  },
  // A choice that is the system's own is none: the page follows the system again.
  toggle() {
    const wanted = theme.isDark() ? 'light' : 'dark';
    theme.chosen = (wanted === 'dark') === theme.system.matches ? null : wanted;
    theme.store((storage) => (theme.chosen ? storage.setItem(theme.KEY, theme.chosen) : storage.removeItem(theme.KEY)));
    theme.apply();
  },
  // Browsers may refuse storage to files.
  store(action) {
    try { return action(window.localStorage); } catch (refused) { return null; }
  },
};
theme.chosen = theme.store((storage) => (['light', 'dark'].includes(storage.getItem(theme.KEY)) ? storage.getItem(theme.KEY) : null));
theme.apply();
theme.system.addEventListener('change', theme.apply);
document.addEventListener('DOMContentLoaded', () => {
  const button = document.getElementById('theme');
  if (button) button.addEventListener('click', theme.toggle);
  theme.apply();
});
