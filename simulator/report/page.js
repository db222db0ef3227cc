// page.js: puts the parts together; the last of the page's scripts.

function drawAll() {
  drawBreakdown();
  drawSources();
  timeline.resize();
  mesh.resize();
  roofline.resize();
  memoryPart.resize();
}

drawHeadline();
table.start();
mesh.start();
drawAll();

// Plots depend on the width of the window and on the color scheme.
let lastWidth = innerWidth, pending = 0;
window.addEventListener('resize', () => {
  if (innerWidth === lastWidth) return;
  lastWidth = innerWidth;
  clearTimeout(pending);
  pending = setTimeout(drawAll, 120);
});
window.addEventListener('themechange', drawAll);
document.documentElement.setAttribute('data-ready', 'true');
