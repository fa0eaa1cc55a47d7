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

// A chart is HTML and SVG. Its file is SVG alone, with its styles written out: other programs than
// browsers show no HTML in a drawing, and know no style sheet of the page.
const NS = 'http://www.w3.org/2000/svg';
const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin',
  'opacity', 'paint-order', 'vector-effect', 'font-family', 'font-size', 'font-weight', 'text-anchor'];
const MARGIN = 8;

function shape(name, attributes, text = '') {
  const element = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

function copyStyles(copy, original) {
  const style = getComputedStyle(original);
  const children = [...original.children].map((child, n) => [copy.children[n], child]);
  for (const [inner, child] of children) copyStyles(inner, child);
  if (style.display === 'none') return copy.remove();
  for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name));
  copy.removeAttribute('class');
}

// The lines in which the browser has set a text.
function textLines(node) {
  const range = document.createRange();
  const lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const [place] = range.getClientRects();
    if (!place) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.place.top - place.top) < 1) last.text += ` ${word}`;
    else lines.push({ text: word, place });
  }
  return lines;
}

const pen = document.createElement('canvas').getContext('2d');
function drawText(node, style, from, root) {
  pen.font = style.font;
  const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = pen.measureText('x');
  for (const { text, place } of textLines(node)) {
    root.append(shape('text', {
      x: place.left - from.left + MARGIN,
      y: place.top - from.top + MARGIN + (place.height + up - down) / 2,
      fill: style.color,
      'font-family': style.fontFamily,
      'font-size': style.fontSize,
      'font-weight': style.fontWeight,
    }, text));
  }
}

function draw(element, from, root) {
  const style = getComputedStyle(element);
  const { left, top, width, height } = element.getBoundingClientRect();
  if (style.display === 'none' || element.matches('.save, .unseen')) return;
  const place = { x: left - from.left + MARGIN, y: top - from.top + MARGIN, width, height };
  if (element instanceof SVGSVGElement) {
    const copy = element.cloneNode(true);
    copyStyles(copy, element);
    for (const [key, value] of Object.entries(place)) copy.setAttribute(key, value);
    copy.setAttribute('overflow', style.overflow);
    root.append(copy);
    return;
  }
  if (!/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor)) {
    root.append(shape('rect', { ...place, fill: style.backgroundColor }));
  }
  for (const child of element.childNodes) {
    if (child instanceof Element) draw(child, from, root);
    else if (child instanceof Text) drawText(child, style, from, root);
  }
}

function drawing(figure) {
  const from = figure.getBoundingClientRect();
  const bar = figure.querySelector('.save')?.getBoundingClientRect().height ?? 0;
  const size = [from.width, from.height - bar].map(side => Math.ceil(side) + 2 * MARGIN);
  const [width, height] = size;
  const root = shape('svg', { width, height, viewBox: `0 0 ${width} ${height}` });
  const fill = getComputedStyle(document.body).backgroundColor;
  root.append(shape('rect', { width, height, fill }));
  draw(figure, from, root);
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

// A link to what is folded opens it.
function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let e = target?.querySelector(':scope > details') ?? target; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  target?.scrollIntoView();
}
addEventListener('hashchange', reveal);
reveal();
