// The columns of a page: compressed in it, unpacked when it opens.

const OPEN = "\x01"; // before words that differ from those of the column compared with
const CLOSE = "\x02";
const MARKS = /[\x01\x02]/g;

const bytesOf = (base64) => {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
};

export async function unpacked(base64) {
  const stream = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

export const json = async (base64) => JSON.parse(new TextDecoder().decode(await unpacked(base64)));

// A column: `of(row)` is a number (NaN: none) or a text ("": none).
async function column({ name, kind, data, known }) {
  if (kind === "number") {
    const values = new Float32Array(await unpacked(data));
    return { name, kind, values, of: (row) => values[row] };
  }
  const [words, codes] = [await json(known), new Uint32Array(await unpacked(data))];
  // What rows can be filtered and grouped by: few words, and short ones.
  const groups = kind === "words" && words.length > 1 && words.length <= 60 && words.every((word) => word.length <= 60);
  return { name, kind, words, codes, groups, of: (row) => words[codes[row]] };
}

export async function readColumns(about) {
  const made = await Promise.all(about.columns.map(column));
  return new Map(made.map((one) => [one.name, one]));
}

export const plain = (text) => text.replace(MARKS, "");

// A text into an element, as text; words that differ as <mark>.
export function fill(element, text, kind) {
  element.replaceChildren();
  for (const part of text.split(OPEN)) {
    const end = part.indexOf(CLOSE);
    if (end >= 0) element.append(make("mark", { className: kind, textContent: part.slice(0, end) }));
    element.append(part.slice(end + 1));
  }
}

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// A text that may break into lines behind its joints.
export const breakable = (text) => text.split(/(?<=[_/.-])/).flatMap((part) => [part, make("wbr")]);

export const shownScore = (value) => (Number.isNaN(value) ? "–" : value.toFixed(2));

export const shownNumber = (value) =>
  Number.isNaN(value) ? "–" : Number.isInteger(value) ? String(value) : value.toFixed(2);
