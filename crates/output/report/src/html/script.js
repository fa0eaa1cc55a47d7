'use strict';
// Without this script the page says the same: it sorts and filters tables, and saves charts.

// What a cell is sorted by: its data-value, or the number and the unit that it begins with.
const PREFIXES = { n: 1e-9, µ: 1e-6, m: 1e-3, k: 1e3, K: 1024, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
const UNIT = /^([-+]?[\d.]+)\s*(?:([nµmkKMGTP])(i?)(?=[A-Za-z/])(?!in\b))?/;
function sortValue(cell) {
  const given = cell.dataset.value;
  if (given !== undefined) return Number(given);
  const text = cell.textContent.trim();
  const found = UNIT.exec(text);
  if (!found) return text.toLowerCase();
  const minutes = /^[\d.]+\s*min\b/.test(text) ? 60 : /^[\d.]+\s*h\b/.test(text) ? 3600 : 1;
  const prefix = found[2] ? PREFIXES[found[2]] : 1;
  return Number(found[1]) * prefix * minutes;
}

function compare(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === 'number' ? -1 : 1;
}

// Rows move within their group; one that is fixed heads it.
function sort(table, column, down) {
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter(row => !row.classList.contains('fixed'));
    const keyed = rows.map((row, n) => [sortValue(row.cells[column] ?? row.cells[0]), n, row]);
    keyed.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1]);
    body.append(...keyed.map(([, , row]) => row));
  }
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') !== 'descending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      sort(table, column, down);
    });
  });
}

const FILTERED = 8;
function makeFilterable(table) {
  const rows = [...table.tBodies].flatMap(body => [...body.rows]);
  const own = rows.filter(row => !row.classList.contains('fixed'));
  if (own.length < FILTERED) return;
  const label = document.createElement('label');
  label.className = 'filter';
  const input = document.createElement('input');
  input.type = 'search';
  label.append('Rows with ', input);
  table.parentElement.before(label);
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of own) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every(word => text.includes(word));
    }
    for (const body of table.tBodies) {
      const shown = [...body.rows].some(row => !row.hidden && !row.classList.contains('fixed'));
      for (const row of body.rows) if (row.classList.contains('fixed')) row.hidden = !shown;
    }
  });
}

// A chart is HTML and SVG: the file holds both, and the page's style sheet.
function drawing(figure) {
  const { width, height } = figure.getBoundingClientRect();
  const copy = figure.cloneNode(true);
  copy.querySelectorAll('.save').forEach(element => element.remove());
  const style = document.createElement('style');
  style.textContent = document.querySelector('style').textContent;
  const holder = document.createElement('div');
  holder.setAttribute('xmlns', 'http://www.w3.org/1999/xhtml');
  const { font, color } = getComputedStyle(figure);
  const back = getComputedStyle(document.body).backgroundColor;
  holder.style.cssText = `font:${font};color:${color};background:${back};padding:8px`;
  holder.append(style, copy);
  const root = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const size = [Math.ceil(width) + 16, Math.ceil(height) + 16];
  root.setAttribute('width', size[0]);
  root.setAttribute('height', size[1]);
  const inner = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject');
  inner.setAttribute('width', '100%');
  inner.setAttribute('height', '100%');
  inner.append(holder);
  root.append(inner);
  return { text: new XMLSerializer().serializeToString(root), size };
}

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const SHARPNESS = 2;
function savePng(figure, name) {
  const { text, size } = drawing(figure);
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = size.map(side => side * SHARPNESS);
    const context = canvas.getContext('2d');
    context.scale(SHARPNESS, SHARPNESS);
    context.drawImage(image, 0, 0);
    canvas.toBlob(blob => save(blob, `${name}.png`));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

function makeSavable(figure, number) {
  const name = `${document.title.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()}-${number + 1}`;
  const bar = document.createElement('div');
  bar.className = 'save';
  const button = (word, act) => {
    const element = document.createElement('button');
    element.type = 'button';
    element.textContent = word;
    element.setAttribute('aria-label', `Save this chart as ${word}`);
    element.addEventListener('click', act);
    bar.append(element);
  };
  button('SVG', () => {
    save(new Blob([drawing(figure).text], { type: 'image/svg+xml' }), `${name}.svg`);
  });
  button('PNG', () => savePng(figure, name));
  figure.append(bar);
}

document.querySelectorAll('table.sortable').forEach(table => {
  makeSortable(table);
  makeFilterable(table);
});
document.querySelectorAll('figure').forEach(makeSavable);
