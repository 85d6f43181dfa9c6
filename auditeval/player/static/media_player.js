// Two media elements that run together, where a page from disk may play a file but not read it. A
// switch keeps the position as well as the browser's own clock does, not to a sample.

export class MediaPlayer {
  // urls: {original, edited}; told() is called when anything changes, failed(side) where one cannot be played.
  constructor(urls, told, failed) {
    this.told = told;
    this.side = "original";
    this.loop = null;
    this.playing = false;
    this.tracks = {};
    for (const [side, url] of Object.entries(urls)) {
      const element = new Audio(url);
      element.preload = "auto";
      element.muted = side !== this.side;
      element.addEventListener("loadedmetadata", told);
      element.addEventListener("error", () => failed(side));
      this.tracks[side] = element;
    }
  }

  get seconds() {
    return Math.max(0, ...Object.values(this.tracks).map((track) => track.duration || 0));
  }

  get longest() {
    const [first, ...others] = Object.values(this.tracks);
    return others.reduce((a, b) => ((b.duration || 0) > (a.duration || 0) ? b : a), first);
  }

  get position() {
    return this.longest.currentTime;
  }

  async play() {
    if (this.playing) return;
    if (this.position >= this.seconds - 0.01) this.seek(0);
    this.playing = true;
    this.timer = setInterval(() => this.tick(), 40);
    await this.run();
    this.told();
  }

  // Those that have something left: an element at its end would begin again.
  run() {
    const left = Object.values(this.tracks).filter((track) => !(track.duration <= this.position + 0.01));
    return Promise.allSettled(left.map((track) => track.play()));
  }

  pause() {
    if (!this.playing) return;
    clearInterval(this.timer);
    for (const track of Object.values(this.tracks)) track.pause();
    this.playing = false;
    this.told();
  }

  seek(to) {
    for (const track of Object.values(this.tracks)) {
      track.currentTime = Math.min(Math.max(0, to), track.duration || 0);
    }
    if (this.playing) this.run();
    this.told();
  }

  listenTo(side) {
    const at = this.position;
    this.side = side;
    for (const [name, track] of Object.entries(this.tracks)) track.muted = name !== side;
    if (Math.abs(this.tracks[side].currentTime - at) > 0.02 && at < this.tracks[side].duration) {
      this.tracks[side].currentTime = at;
    }
    this.told();
  }

  tick() {
    if (this.longest.ended) {
      clearInterval(this.timer);
      this.playing = false;
    }
    this.told();
  }
}
