// Two clips on one clock: both run, one is heard, so that a switch keeps the position to a sample.

const FADE_SECONDS = 0.008;
const SLOT_SECONDS = 0.02;
const HEARD_SHARE = 0.98;

export class Player {
  // clips: {original: AudioBuffer, edited: AudioBuffer}; told() is called when anything changes.
  constructor(context, clips, heard, told) {
    this.context = context;
    this.told = told;
    this.seconds = Math.max(...Object.values(clips).map((clip) => clip.duration));
    this.side = "original";
    this.loop = null;
    this.looping = false;
    this.playing = false;
    this.wanted = false;
    this.offset = 0;
    this.marked = 0;
    this.tracks = {};
    for (const [side, clip] of Object.entries(clips)) {
      const frames = Math.ceil(this.seconds * clip.sampleRate);
      const padded = new AudioBuffer({ length: frames, sampleRate: clip.sampleRate });
      padded.copyToChannel(clip.getChannelData(0), 0);
      const gain = context.createGain();
      gain.connect(context.destination);
      const slots = new Uint8Array(Math.max(1, Math.floor(clip.duration / SLOT_SECONDS)));
      this.tracks[side] = { buffer: padded, gain, slots, heard: heard[side] };
    }
  }

  get position() {
    if (!this.playing) return this.offset;
    const since = Math.max(0, this.context.currentTime - this.started);
    const at = this.offset + since;
    if (this.active) {
      const [from, to] = this.active;
      return at < to ? at : from + ((at - from) % (to - from));
    }
    return Math.min(at, this.seconds);
  }

  async play() {
    this.wanted = true;
    await this.context.resume();
    if (this.playing || !this.wanted) return;
    if (this.offset >= this.seconds - 0.01) this.offset = 0;
    this.active = this.looping && this.loop ? this.loop : null;
    if (this.active && (this.offset < this.active[0] || this.offset >= this.active[1])) {
      this.offset = this.active[0];
    }
    this.started = this.context.currentTime + 0.02;
    for (const [side, track] of Object.entries(this.tracks)) {
      track.source = new AudioBufferSourceNode(this.context, { buffer: track.buffer });
      if (this.active) {
        Object.assign(track.source, { loop: true, loopStart: this.active[0], loopEnd: this.active[1] });
      }
      track.gain.gain.cancelScheduledValues(0);
      track.gain.gain.value = side === this.side ? 1 : 0;
      track.source.connect(track.gain);
      track.source.start(this.started, this.offset);
    }
    this.playing = true;
    this.marked = this.offset;
    this.timer = setInterval(() => this.tick(), 40);
    this.told();
  }

  pause() {
    this.wanted = false;
    if (!this.playing) return;
    this.tick(false);
    this.offset = this.position;
    this.stop();
  }

  stop() {
    clearInterval(this.timer);
    for (const track of Object.values(this.tracks)) {
      track.source.stop();
      track.source.disconnect();
    }
    this.playing = false;
    this.told();
  }

  seek(to) {
    const goOn = this.playing;
    if (goOn) this.pause();
    this.offset = Math.min(Math.max(0, to), this.seconds);
    if (goOn) this.play();
    else this.told();
  }

  listenTo(side) {
    if (side !== this.side) {
      if (this.playing) this.tick(false);
      this.side = side;
      const now = this.context.currentTime;
      for (const [name, { gain }] of Object.entries(this.tracks)) {
        gain.gain.cancelScheduledValues(now);
        gain.gain.setValueAtTime(gain.gain.value, now);
        gain.gain.linearRampToValueAtTime(name === side ? 1 : 0, now + FADE_SECONDS);
      }
    }
    this.told();
  }

  // Repeat a stretch [from, to] in seconds, or none.
  repeat(loop, looping) {
    const goOn = this.playing;
    if (goOn) this.pause();
    this.loop = loop;
    this.looping = looping && loop !== null;
    if (goOn) this.play();
    else this.told();
  }

  tick(mayEnd = true) {
    const at = this.position;
    const { slots } = this.tracks[this.side];
    const mark = (from, to) => {
      const end = to >= this.seconds - SLOT_SECONDS ? slots.length : Math.floor(to / SLOT_SECONDS);
      slots.fill(1, Math.floor(from / SLOT_SECONDS), end);
    };
    if (at >= this.marked) mark(this.marked, at);
    else if (this.active) {
      mark(this.marked, this.active[1]);
      mark(this.active[0], at);
    }
    this.marked = at;
    const track = this.tracks[this.side];
    if (!track.heard) {
      const share = slots.reduce((a, b) => a + b, 0) / slots.length;
      if (share >= HEARD_SHARE && slots[slots.length - 1]) track.heard = true;
    }
    if (mayEnd && !this.active && at >= this.seconds) {
      this.offset = this.seconds;
      this.stop();
    } else this.told();
  }
}
