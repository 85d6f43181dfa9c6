// Draws a clip: its waveform above its spectrogram (mel-spaced, 80 dB below the louder clip's peak).

const SIZE = 1024;
const WAVE_SHARE = 0.27;
const RANGE_DB = 80;
const MAP = [[4, 6, 18], [60, 16, 92], [146, 38, 104], [221, 81, 62], [251, 165, 40], [252, 250, 190]];

// The colour of a share of the range, into four bytes of an image; no list is made: there are 10^5.
function paint(bytes, at, share) {
  const place = Math.min(0.9999, Math.max(0, share)) * (MAP.length - 1);
  const low = Math.floor(place);
  const below = MAP[low];
  const above = MAP[low + 1];
  for (let i = 0; i < 3; i++) bytes[at + i] = below[i] + (place - low) * (above[i] - below[i]);
  bytes[at + 3] = 255;
}

const mel = (hz) => 2595 * Math.log10(1 + hz / 700);
const hertz = (value) => 700 * (10 ** (value / 2595) - 1);

// Of a whole turn in SIZE steps.
const COSINES = Float64Array.from({ length: SIZE / 2 }, (_, k) => Math.cos((-2 * Math.PI * k) / SIZE));
const SINES = Float64Array.from({ length: SIZE / 2 }, (_, k) => Math.sin((-2 * Math.PI * k) / SIZE));

// In place; re and im have the length SIZE, a power of two.
function fft(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
  }
  for (let length = 2; length <= n; length <<= 1) {
    const half = length >> 1;
    for (let k = 0; k < half; k++) {
      const c = COSINES[(k * SIZE) / length];
      const s = SINES[(k * SIZE) / length];
      for (let i = k; i < n; i += length) {
        const j = i + half;
        const x = re[j] * c - im[j] * s;
        const y = re[j] * s + im[j] * c;
        re[j] = re[i] - x;
        im[j] = im[i] - y;
        re[i] += x;
        im[i] += y;
      }
    }
  }
}

// Levels in dB :: columns of SIZE / 2 values, at even steps over `seconds`.
export function levels(samples, rate, seconds, columns) {
  const made = [];
  const window = Float64Array.from({ length: SIZE }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SIZE));
  for (let column = 0; column < columns; column++) {
    const start = Math.round(((column + 0.5) / columns) * seconds * rate) - SIZE / 2;
    const re = new Float64Array(SIZE);
    const im = new Float64Array(SIZE);
    for (let i = 0; i < SIZE; i++) re[i] = (samples[start + i] || 0) * window[i];
    fft(re, im);
    const power = new Float32Array(SIZE / 2);
    for (let i = 0; i < SIZE / 2; i++) power[i] = 10 * Math.log10(re[i] ** 2 + im[i] ** 2 + 1e-12);
    made.push(power);
  }
  return made;
}

export function peak(made) {
  return made.reduce((most, column) => column.reduce((a, b) => Math.max(a, b), most), -120);
}

export function loudest(samples) {
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-4);
}

// `top` is the highest level in dB, `full` the largest sample, both over the two clips.
export function draw(canvas, samples, rate, seconds, made, top, full, tint) {
  const scale = Math.min(2, window.devicePixelRatio || 1);
  const width = (canvas.width = Math.max(1, Math.round(canvas.clientWidth * scale)));
  const height = (canvas.height = Math.max(1, Math.round(canvas.clientHeight * scale)));
  const context = canvas.getContext("2d");
  const wave = Math.round(height * WAVE_SHARE);
  context.fillStyle = "#0c1014";
  context.fillRect(0, 0, width, height);
  context.fillStyle = tint;
  for (let x = 0; x < width; x++) {
    let low = 0;
    let high = 0;
    const stop = Math.floor(((x + 1) / width) * seconds * rate);
    for (let i = Math.floor((x / width) * seconds * rate); i < stop && i < samples.length; i++) {
      low = Math.min(low, samples[i]);
      high = Math.max(high, samples[i]);
    }
    const middle = wave / 2;
    const unit = (0.95 * middle) / full;
    context.fillRect(x, middle - high * unit, 1, Math.max(1, (high - low) * unit));
  }
  const rows = height - wave;
  const image = context.createImageData(width, rows);
  const highest = mel(Math.min(rate / 2, 16000));
  for (let y = 0; y < rows; y++) {
    const bin = (hertz((1 - (y + 0.5) / rows) * highest) * SIZE) / rate;
    const low = Math.min(SIZE / 2 - 2, Math.floor(bin));
    for (let x = 0; x < width; x++) {
      const column = made[Math.min(made.length - 1, Math.floor((x / width) * made.length))];
      const level = column[low] + (bin - low) * (column[low + 1] - column[low]);
      paint(image.data, 4 * (y * width + x), 1 + (level - top) / RANGE_DB);
    }
  }
  context.putImageData(image, 0, wave);
  context.font = `${10 * scale}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  for (const khz of [1, 4, 12]) {
    const at = mel(khz * 1000);
    if (at < highest) {
      const y = wave + rows * (1 - at / highest);
      context.fillStyle = "rgba(255,255,255,.85)";
      context.fillText(`${khz} kHz`, 4 * scale, y);
      context.fillStyle = "rgba(255,255,255,.22)";
      context.fillRect(46 * scale, y, width, 1);
    }
  }
}

export function drawMarks(canvas, seconds, position, loop, tint) {
  const scale = Math.min(2, window.devicePixelRatio || 1);
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  context.clearRect(0, 0, width, height);
  if (loop) {
    const [from, to] = loop.map((time) => (time / seconds) * width);
    context.fillStyle = "rgba(255,255,255,.2)";
    context.fillRect(from, 0, to - from, height);
    context.fillStyle = "#fff";
    context.fillRect(from, 0, 2 * scale, height);
    context.fillRect(to - 2 * scale, 0, 2 * scale, height);
  }
  const x = (position / seconds) * width;
  context.fillStyle = "#fff";
  context.fillRect(x - scale, 0, 2 * scale, height);
  context.fillStyle = tint;
  context.fillRect(x - scale / 2, 0, scale, height);
}
