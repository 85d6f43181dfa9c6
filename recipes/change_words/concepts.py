"""Words of each change, by what `frames` makes of them."""

CONCEPTS: dict[str, dict[str, str]] = {
    "pitch_up": {
        "more": "pitch; key; register; fundamental frequency; intonation; voice pitch; tuning",
        "be": "higher; higher pitched; higher in pitch; high-pitched; shrill; squeaky; shriller",
        "not": "deep; low-pitched; low in pitch",
        "how": "at a higher pitch; in a higher voice; in a high register; up in pitch; in falsetto",
    },
    "pitch_down": {
        "less": "pitch; key; register; fundamental frequency; intonation; voice pitch; tuning",
        "be": "lower; lower pitched; lower in pitch; low-pitched; deep; deeper; deeper voiced",
        "not": "high-pitched; shrill; squeaky; high in pitch",
        "how": "at a lower pitch; in a deeper voice; in a low register; down in pitch; in a bass",
    },
    "faster": {
        "more": "speed; tempo; pace; rate; speaking rate; playback speed; bpm; velocity; rhythm",
        "be": "faster; quicker; fast; quick; rapid; more rapid; brisk; hurried; speedy; shorter",
        "not": "slow; sluggish; long; drawn out; leisurely",
        "how": (
            "quickly; rapidly; fast; at a fast pace; in a hurry; swiftly; briskly; hastily; "
            "at high speed; hurriedly; at a rapid rate; in fast motion; more quickly; "
            "in double time; at a quick tempo; quicker than before; in quick succession; "
            "speedily; in less time"
        ),
    },
    "slower": {
        "less": "speed; tempo; pace; rate; speaking rate; playback speed; bpm; velocity; rhythm",
        "be": "slower; slow; more slow; sluggish; leisurely; drawn out; unhurried; longer; lazy",
        "not": "fast; quick; rapid; hasty; hurried; rushed",
        "how": (
            "slowly; at a slow pace; leisurely; unhurriedly; at low speed; in slow motion; "
            "less quickly; less fast; at a slow tempo; slower than before; sluggishly; "
            "in more time; taking time; without haste; gradually and slowly; at a slow rate; "
            "in half time"
        ),
    },
    "louder": {
        "more": "volume; loudness; level; gain; sound level; amplitude; intensity; decibels; power",
        "be": "louder; loud; more audible; stronger; more powerful; noisy and loud; blaring",
        "not": "quiet; soft; faint; inaudible; weak; silent",
        "how": (
            "loudly; at high volume; at full volume; noisily; at a loud level; very loud; "
            "more loudly; louder than before; in a loud voice; deafeningly; with the volume up"
        ),
    },
    "softer": {
        "less": "volume; loudness; level; gain; sound level; amplitude; intensity; decibels; power",
        "be": "quieter; quiet; softer; soft; faint; fainter; less audible; weaker; hushed; subtle",
        "not": "loud; powerful; blaring; strong",
        "how": (
            "quietly; softly; at low volume; faintly; at a soft level; barely audibly; gently; "
            "less loudly; quieter than before; in a quiet voice; in a hushed voice; "
            "with volume down"
        ),
    },
    "female": {
        "be": "female; feminine; womanly; a woman; a girl; a lady; like a woman; like a girl",
        "not": "male; masculine; manly; like a man",
        "add": "a female voice; a woman's voice; a feminine timbre; female voice conversion",
        "how": (
            "like a woman; in a woman's voice; as a woman; spoken by a woman; by a female talker; "
            "in the voice of a lady; by a girl; as a female speaker; in a female tone; "
            "by a young woman"
        ),
    },
    "male": {
        "be": "male; masculine; manly; a man; a boy; a gentleman; like a man; like a boy",
        "not": "female; feminine; womanly; like a woman",
        "add": "a male voice; a man's voice; a masculine timbre; male voice conversion",
        "how": (
            "like a man; in a man's voice; as a man; spoken by a man; by a male talker; "
            "in the voice of a gentleman; by a boy; as a male speaker; in a male tone; "
            "by a young man"
        ),
    },
    "other_talker": {
        "be": "another person; someone else; a different speaker; another speaker; somebody else",
        "add": "another voice; a different voice; another timbre; a new speaker; voice conversion",
        "lose": "identity of the speaker; original speaker's identity",
        "how": (
            "like another person; in a different voice; by another speaker; by someone else; "
            "like a different speaker; in somebody else's voice; in a new voice; "
            "by a different talker"
        ),
    },
    "whispered": {
        "be": "whispered; whispering; a whisper; whispery; unvoiced; breathy and whispered",
        "add": "a whisper; a whispering voice; a whispering style; whispering",
        "how": (
            "in a whisper; whispering; in a whispering voice; in whispers; like a whisper; "
            "whispering secretly; as a whisper; in whispered words; in a whispery voice"
        ),
    },
    "voiced": {
        "be": "voiced; normally spoken; spoken aloud; normal again instead of whispered",
        "not": "whispered; whispering; whispery; a whisper",
        "lose": "whispering; whisper; whispery quality",
        "how": (
            "in a normal voice instead of a whisper; aloud and not whispering; in a full voice; "
            "in a normal voice; without whispering; no longer in a whisper; "
            "rather than whispering; in an ordinary speaking voice; normally, not in a whisper; "
            "out loud"
        ),
    },
    "lively": {
        "more": "energy; excitement; enthusiasm; emotion; passion; anger; joy; liveliness; arousal",
        "be": (
            "excited; angry; furious; happy; cheerful; energetic; enthusiastic; lively; joyful; "
            "upset; agitated; passionate; thrilled; mad; expressive; more emotional; surprised; "
            "scared; aggressive; animated; panicked; delighted; hysterical; vivid; dramatic; "
            "more excited"
        ),
        "not": "calm; sad; bored; flat; monotonous; tired; neutral; dull and lifeless; sleepy",
        "add": "excitement; anger; joy; enthusiasm; happiness; fear; rage; shouting; an angry tone",
        "how": (
            "excitedly; angrily; furiously; cheerfully; happily; with anger; with joy; shouting; "
            "yelling; screaming; in an excited tone; in an angry voice; energetically; "
            "passionately; with enthusiasm; with great energy; in rage; laughing with joy; "
            "with a happy mood"
        ),
    },
    "calm": {
        "less": "energy; excitement; enthusiasm; emotion; passion; anger; liveliness; arousal",
        "be": (
            "calm; calmer; sad; bored; flat; monotonous; tired; neutral; subdued; relaxed; "
            "sleepy; gloomy; depressed; peaceful; gentle and calm; mournful; unemotional; sober; "
            "melancholic; composed; gentle; weary; serious; indifferent; disappointed; lifeless; "
            "more relaxed"
        ),
        "not": "excited; angry; furious; happy; energetic; lively; agitated; emotional; aggressive",
        "add": "sadness; calmness; sorrow; boredom; melancholy; a sad tone; a calm mood; grief",
        "lose": "excitement; anger; emotion; energy; enthusiasm; shouting; agitation",
        "how": (
            "calmly; sadly; with sadness; in a sad tone; in a calm voice; wearily; peacefully; "
            "in a flat tone; in a monotone; without emotion; with sorrow; gently and calmly; "
            "tiredly; in a subdued manner; in a bored voice; without energy; without excitement; "
            "gloomily"
        ),
    },
    "more_reverb": {
        "more": (
            "reverb; reverberation; room sound; distance; room size; reverb time; ambience; space"
        ),
        "be": (
            "reverberant; more reverberant; distant; farther away; far away; spacious; wetter; "
            "echoey; roomy; more distant; remote; further away; more spacious; ambient"
        ),
        "not": "dry; close; near; direct",
        "add": (
            "reverb; reverberation; hall reverb; room reverb; a reverb tail; a long reverb; "
            "plate reverb; a large room; a reverb effect; the sound of a hall; ambience; "
            "convolution reverb"
        ),
        "how": (
            "in a large hall; in a cathedral; in a church; in a cave; in a big room; far away; "
            "in the distance; from far away; in an empty hall; in a tunnel; in a stadium; "
            "in a bathroom; in a concert hall; in a huge space; at a distance; in a hallway; "
            "in a warehouse; from afar; across the street; in a stairwell; in an empty church; "
            "at the other end of the room; in a reverberant room; in a theatre; "
            "in a swimming pool; in a garage; a long way away"
        ),
    },
    "less_reverb": {
        "less": (
            "reverb; reverberation; room sound; distance; room size; reverb time; echo; ambience"
        ),
        "be": (
            "dry; drier; close; closer; nearer; less reverberant; near; direct; anechoic; "
            "intimate; closely miked; less roomy; close-up; up close; dead and dry"
        ),
        "not": "reverberant; distant; echoey; far away; spacious; roomy; remote; wet",
        "lose": (
            "reverb; reverberation; room sound; hall; echo; echoes; room; reverb tail; room echo; "
            "ambience of the room; late reverberation; room acoustics; hall sound"
        ),
        "how": (
            "close to the microphone; in a dry room; close by; nearby; up close; in a small room; "
            "in a dead room; in an anechoic chamber; near the microphone; right here; "
            "close to the ear; in a vocal booth; in a dry studio; in a closet full of clothes; "
            "outside in the open; at a short distance; near the listener; next to the microphone; "
            "in a recording studio"
        ),
    },
    "brighter": {
        "more": (
            "treble; highs; high frequencies; high end; brightness; upper frequencies; presence; "
            "top end; sharpness; brilliance; clarity; crispness; air"
        ),
        "less": (
            "bass; lows; low frequencies; low end; muddiness; boominess; lower frequencies; warmth"
        ),
        "be": (
            "brighter; bright; crisp; crisper; sharper; sharp; thin; tinny; brilliant; "
            "clear in the treble; sparkling; shiny; airy; thinner; more brilliant; trebly; "
            "clearer; more open"
        ),
        "not": "dull; muffled; dark; boomy; bassy; muddy; blurred; warm; woolly",
        "add": (
            "treble; brilliance; a high-pass filter; highs; a treble boost; sparkle; presence; air"
        ),
        "lose": "bass; low frequencies; muddiness; boominess; rumble of the lows; low end; lows",
        "how": (
            "with a bright timbre; through a high-pass filter; with bright highs; brightly; crisply"
        ),
    },
    "duller": {
        "more": (
            "bass; lows; low frequencies; low end; warmth; darkness; lower frequencies; boominess"
        ),
        "less": (
            "treble; highs; high frequencies; high end; brightness; upper frequencies; presence; "
            "top end; sharpness; brilliance; crispness; air"
        ),
        "be": (
            "duller; dull; muffled; darker; dark; warm; boomy; bassy; muddy; blurred; blunt; "
            "woolly; warmer; mellow; more muffled; bassier; rounder; veiled; blanketed; obstructed"
        ),
        "not": "bright; sharp; crisp; tinny; shrill in the treble; thin; brilliant; clear",
        "add": "bass; a low-pass filter; lows; a bass boost; warmth; low end; a high-cut filter",
        "lose": "treble; high frequencies; highs; sharpness; sibilance; brilliance; high end",
        "how": (
            "behind a door; behind a wall; under water; from another room; through a wall; "
            "through a closed window; under a blanket; through a low-pass filter; from next door; "
            "in the next room; outside the door; inside a box; with a hand over the mouth; "
            "submerged; through a thick curtain; behind glass; through a mask; "
            "from the room upstairs"
        ),
    },
    "narrow": {
        "less": "bandwidth; frequency range",
        "be": (
            "band-limited; narrowband; telephone-like; like a telephone; like a radio; lo-fi; "
            "nasal as on a phone; like a phone call; like an old record; band-passed"
        ),
        "add": (
            "a telephone effect; a radio effect; a band-pass filter; a phone filter; a megaphone; "
            "a telephone filter; a walkie-talkie effect; a radio filter; a lo-fi effect; "
            "an intercom"
        ),
        "how": (
            "on the phone; over the telephone; on the radio; through a megaphone; like a radio; "
            "on an old radio; over an intercom; through a walkie-talkie; through a phone; "
            "over the radio; like a telephone; on a telephone line; through a loudhailer; "
            "from a tiny speaker; through cheap earphones; on a transistor radio; "
            "from a gramophone; like a phone call; over a loudspeaker system; on a voice call; "
            "through the public address system"
        ),
    },
    "echo": {
        "be": "echoing; echoed; repeated by an echo",
        "add": (
            "echo; an echo; echoes; a delay; delay; a delay effect; slapback; an echo effect; "
            "a slapback delay; repeats; feedback delay; tape delay; a long echo; a strong echo; "
            "a ping-pong delay; several echoes; multiple repeats; a dub delay"
        ),
        "how": (
            "echoing; as an echo; like in the mountains; in a canyon; echoing back; with an echo; "
            "again and again as an echo; echoing from the mountains; down a well; across a valley"
        ),
    },
    "distorted": {
        "more": "distortion; overdrive; clipping; drive; saturation; grit",
        "be": (
            "distorted; overdriven; clipped; fuzzy; gritty; saturated; harsh and distorted; "
            "crushed; broken up; crunchy; crackling from overload; overloaded; bit-crushed; "
            "robotic and crushed"
        ),
        "not": "undistorted; clean and undistorted",
        "add": (
            "distortion; overdrive; fuzz; clipping; saturation; a distortion effect; "
            "a bitcrusher; a fuzz pedal; an overdrive pedal; hard clipping; a distortion pedal; "
            "grit; tube saturation"
        ),
        "how": (
            "through an overdriven amplifier; through a broken speaker; with clipping; "
            "overdriven; through a blown loudspeaker; into distortion; "
            "through a guitar amp at full gain; overloaded"
        ),
    },
    "noisier": {
        "more": (
            "noise; hiss; static; noise level; noise floor; background noise; hum; crackle; grain"
        ),
        "less": "signal-to-noise ratio; SNR",
        "be": "noisy; noisier; hissy; full of noise; staticky; more noisy; grainy; crackly",
        "not": "clean; noise-free; noiseless; free of noise",
        "add": (
            "noise; white noise; hiss; static; pink noise; background noise; tape hiss; hum; "
            "vinyl crackle; gaussian noise; noise in the background; random noise; mains hum; "
            "crackle; brown noise; radio static; a hiss; ambient noise; electrical noise; "
            "a noisy background"
        ),
        "how": (
            "in noise; in static; under noise; over a noisy line; amid hiss; drowned in noise; "
            "over white noise; in a noisy background; with noise around it; with hiss below"
        ),
    },
    "cleaner": {
        "more": "signal-to-noise ratio; SNR; cleanliness; sound quality; fidelity",
        "less": (
            "noise; hiss; static; noise level; noise floor; background noise; hum; crackle; "
            "distortion; interference; grain"
        ),
        "be": (
            "clean; cleaner; noise-free; noiseless; free of noise; denoised; undistorted; "
            "pristine; without noise; restored; purified; cleaned up; high quality; "
            "like a studio recording"
        ),
        "not": "noisy; hissy; distorted; crackly; staticky; full of noise; grainy; clipped",
        "lose": (
            "noise; background noise; hiss; static; hum; crackle; distortion; clicks; buzz; pops; "
            "white noise; tape hiss; interference; clipping; noise in the background; mains hum; "
            "electrical hum; vinyl crackle; artifacts; crackling; ambient noise; wind noise; "
            "rumble"
        ),
        "add": (
            "noise reduction; a denoiser; noise suppression; noise removal; denoising; declipping"
        ),
        "how": (
            "in clean quality; in studio quality; without noise; in silence; "
            "with a quiet background"
        ),
    },
    "tremolo": {
        "be": (
            "trembling in volume; wobbling in loudness; pulsating in level; tremulous; fluctuating"
        ),
        "add": (
            "tremolo; a tremolo; tremolo effect; amplitude modulation; a wobble of the volume; "
            "volume modulation; a tremolo pedal; a pulsating volume; periodic volume changes; "
            "a throb"
        ),
        "how": (
            "with tremolo; with a trembling volume; with pulsing loudness; "
            "rising and falling in volume; swelling and fading quickly; fluctuating in level; "
            "wavering in loudness"
        ),
    },
    "chorus": {
        "be": (
            "doubled; thickened; flanged; phased; chorused; like several at once; like an ensemble"
        ),
        "add": (
            "chorus; a chorus; chorus effect; a flanger; a phaser; flanging; doubling; "
            "a chorus pedal; a flanger effect; a phaser effect; phasing; a doubler; "
            "detuned copies; a jet flanger; unison voices"
        ),
        "how": (
            "with chorus; with a flanger; through a phaser; like a choir of copies; doubled; "
            "in unison with detuned copies; through a flanger; through a chorus pedal"
        ),
    },
    "compressed": {
        "more": "compression; limiting; punch; evenness of level",
        "less": "dynamics; dynamic range; volume differences; level differences; loudness range",
        "be": (
            "compressed; limited; punchy; evenly loud; squashed; even in volume; levelled; "
            "dynamically flat; consistent in volume; uniform in loudness"
        ),
        "not": "dynamic; uneven in volume; uneven in loudness",
        "add": (
            "compression; a compressor; a limiter; limiting; dynamic range compression; "
            "an automatic gain control; dynamics compression; multiband compression; levelling"
        ),
        "how": (
            "at an even level; at a constant loudness; with little dynamics; "
            "through a compressor; at a uniform volume; with the dynamics flattened; "
            "with everything equally loud"
        ),
    },
    "said": {
        "more": "words said; words in the sentence",
        "lose": (
            "word; last word; first word; filler words; words; phrase; sentence; stutter; name; "
            "second word; final sentence; spoken word"
        ),
        "add": "a word; a sentence; the words; a spoken phrase; the name; words at the end",
        "how": (
            "saying something else; saying other words; with another word; with a different text; "
            "with different words; in other words; with a new ending of the sentence"
        ),
    },
    "event": {
        "add": "{sound}; the sound of {sound}; {qualified}",
        "lose": "{sound}; the sound of {sound}; {qualified}",
    },
}
