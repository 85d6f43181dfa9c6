"""Wordings of each change that nothing is fitted on; see `phrases`."""

HELD_OUT: dict[str, tuple[str, str, str]] = {
    "pitch_up": (
        "retune {thing} so that it is [a bit|{amount}] higher; push up the pitch in {thing}; "
        "the pitch of {thing} ought to go up[| by {amount}]; change {thing} to a higher pitch; "
        "repitch {thing} to a higher note; make {thing} sound shrill, like a small child",
        "but pitched much higher; in a voice that is higher; at a raised pitch; "
        "in a thin high tone",
        "a higher-pitched version; pitch shifted upwards; pitch increase; the pitch goes up",
    ),
    "pitch_down": (
        "retune {thing} so that it is [a bit|{amount}] lower; push down the pitch in {thing}; "
        "the pitch of {thing} ought to go down[| by {amount}]; change {thing} to a lower pitch; "
        "repitch {thing} to a lower note; make {thing} sound deep, like a monster",
        "but pitched much lower; in a voice that is deeper; at a reduced pitch; in a deep low tone",
        "a lower-pitched version; pitch shifted downwards; pitch decrease; the pitch goes down",
    ),
    "faster": (
        "the speed of {thing} ought to go up[| by {amount}]; fast-forward {thing}; "
        "change {thing} to a faster tempo; let {thing} be played back quickly; "
        "make {thing} sound rushed; shorten {thing} by speeding it up; get {thing} to hurry",
        "but much faster; in a rush; at a speed that is higher; in a hasty manner",
        "a faster version; speed increase; the tempo goes up; hurriedly",
    ),
    "slower": (
        "the speed of {thing} ought to go down[| by {amount}]; let {thing} be played back slowly; "
        "change {thing} to a slower tempo; make {thing} sound as if in slow motion; "
        "lengthen {thing} by slowing it down; get {thing} to take it easy",
        "but much slower; without any hurry; at a speed that is lower; in a slow manner",
        "a slower version; speed decrease; the tempo goes down; lazily",
    ),
    "louder": (
        "the volume of {thing} ought to go up[| by {amount}]; bring out {thing} more loudly; "
        "change {thing} to a louder volume; make sure one can hear {thing} by making it louder; "
        "apply a gain of plus {amount} to {thing}; give the level of {thing} a boost",
        "but much louder; at a volume that is higher; in a very loud manner; "
        "loud enough to hurt the ears",
        "a louder version; volume increase; the volume goes up; more loudness",
    ),
    "softer": (
        "the volume of {thing} ought to go down[| by {amount}]; "
        "tone down {thing}, it is too loud; change {thing} to a quieter volume; "
        "make sure {thing} disturbs nobody by making it quieter; "
        "apply a gain of minus {amount} to {thing}; give the level of {thing} a cut",
        "but much quieter; at a volume that is lower; in a very quiet manner; "
        "so quiet that one hardly hears it",
        "a quieter version; volume decrease; the volume goes down; less loudness",
    ),
    "female": (
        "give {thing} over to a female voice; make {thing} speak with the voice of a female; "
        "{thing} ought to be spoken by a woman; rather than {thing} I prefer a woman's voice; "
        "transform the gender of {thing} into a woman",
        "but with a woman's voice; in a voice that is female; as said by a lady",
        "a woman's version; voice becomes female; female timbre; woman talking instead of man",
    ),
    "male": (
        "give {thing} over to a male voice; make {thing} speak with the voice of a male; "
        "{thing} ought to be spoken by a man; rather than {thing} I prefer a man's voice; "
        "transform the gender of {thing} into a man",
        "but with a man's voice; in a voice that is male; as said by a gentleman",
        "a man's version; voice becomes male; male timbre; man talking instead of woman",
    ),
    "other_talker": (
        "give {thing} over to another voice; make {thing} speak with the voice of somebody else; "
        "{thing} ought to be spoken by another person; "
        "rather than {thing} I prefer another speaker; "
        "transform {thing} into a different individual",
        "but with somebody else's voice; in a voice that is different; as said by another person",
        "another speaker's version; speaker identity becomes another; a new voice",
    ),
    "whispered": (
        "change {thing} to a whisper; make {thing} whisper quietly; "
        "{thing} ought to be whispered; rather than aloud, let {thing} come as a whisper; "
        "transform {thing} into whispering",
        "but whispered; in a voice that is a mere whisper; as a secret whisper",
        "a whispered version; voice becomes a whisper; whispered instead of spoken aloud",
    ),
    "voiced": (
        "change {thing} from a whisper to a normal voice; make {thing} speak up, not whisper; "
        "{thing} ought to be spoken normally and not whispered; "
        "transform the whispering of {thing} into normal talking",
        "but no longer whispered; in a voice that is normal and no whisper; "
        "aloud, not as a whisper",
        "a version without whispering; whisper becomes normal speech; spoken aloud, not whispered",
    ),
    "lively": (
        "change {thing} to an excited tone; make {thing} speak as if in a rage; "
        "{thing} ought to be full of joy; rather than calm, let {thing} be furious; "
        "transform {thing} into an enthusiastic performance; cheer {thing} up; "
        "get {thing} to shout",
        "but in an excited mood; in a voice that is angry; full of enthusiasm; "
        "as if yelling at a dog",
        "a livelier version; emotion becomes anger; with more enthusiasm; joyfully; "
        "angrily shouting",
    ),
    "calm": (
        "change {thing} to a calm tone; make {thing} speak as if in mourning; "
        "{thing} ought to be full of sadness; rather than angry, let {thing} be relaxed; "
        "transform {thing} into a subdued performance; quiet {thing} down emotionally",
        "but in a calm mood; in a voice that is sad; full of sorrow; as if bored to death",
        "a calmer version; emotion becomes sadness; with scarcely any enthusiasm; drowsily; "
        "sadly and flatly",
    ),
    "more_reverb": (
        "change the room of {thing} to a big hall; make {thing} reverberate more; "
        "{thing} ought to sound as if far away; wash {thing} in reverb; "
        "transport {thing} into a cathedral; increase the distance of {thing} to the listener",
        "but in a big hall; in a room that is larger; as if from far away; drenched in reverb",
        "a more reverberant version; room becomes a church; further away; long reverberation",
    ),
    "less_reverb": (
        "change the room of {thing} to a dry studio; make {thing} reverberate less; "
        "{thing} ought to sound as if close by; dereverb {thing}; "
        "transport {thing} into a small dry room; decrease the distance of {thing} to the listener",
        "but in a small dry room; in a room that is less reverberant; as if near; "
        "with hardly any reverb",
        "a less reverberant version; room becomes dry; right up close; short reverberation",
    ),
    "brighter": (
        "change the tone of {thing} to a brighter one; filter {thing} so that the bass is gone; "
        "the treble of {thing} ought to go up; unmuffle {thing}; get more crispness into {thing}; "
        "tilt the spectrum of {thing} toward the highs",
        "but with a brighter timbre; in a tone that is crisper; with emphasised high frequencies",
        "a brighter version; timbre becomes brighter; the bass goes down; crisp highs",
    ),
    "duller": (
        "change the tone of {thing} to a darker one; filter {thing} so that the treble is gone; "
        "the bass of {thing} ought to go up; make {thing} sound as though covered by a pillow; "
        "get more warmth into {thing}; tilt the spectrum of {thing} toward the lows",
        "but with a darker timbre; in a tone that is duller; with emphasised low frequencies; "
        "from inside a closed closet",
        "a more muffled version; timbre becomes darker; the treble goes down; muffled by a wall",
    ),
    "narrow": (
        "change {thing} to telephone quality; make {thing} come through a telephone; "
        "{thing} ought to sound like on the radio; transmit {thing} over a phone line; "
        "give {thing} the sound of an old radio",
        "but over the telephone; in a radio voice as from a walkie-talkie; like in a phone call",
        "a telephone version; phone line sound; radio voice effect",
    ),
    "echo": (
        "make {thing} repeat itself with an echo; {thing} ought to have an echo; "
        "send {thing} through a delay; get echoes of {thing}; "
        "let {thing} resound with repeated echoes",
        "but with an echo; repeating as an echo; and its echoes fade away",
        "an echoing version; delay effect on it; some echoes",
    ),
    "distorted": (
        "make {thing} sound overdriven like a rock guitar; {thing} ought to be distorted; "
        "send {thing} through an overdrive; get some distortion on {thing}; "
        "ruin {thing} by clipping",
        "but distorted; overdriven and fuzzy; clipping badly",
        "a distorted version; overdrive effect on it; some distortion",
    ),
    "noisier": (
        "make {thing} sound as if recorded on a hissing tape; {thing} ought to be noisier; "
        "superimpose noise on {thing}; get some static into {thing}; "
        "cover {thing} with white noise",
        "but with a lot of noise; covered by hiss; amid a lot of static",
        "a noisier version; noise on it; some hiss",
    ),
    "cleaner": (
        "make {thing} sound as if there had never been noise; {thing} ought to be free of hiss; "
        "wipe the noise off {thing}; get the static out of {thing}; repair the noisy {thing}",
        "but without noise; cleaned of hiss; with the static taken away",
        "a cleaner version; noise taken away; less background noise",
    ),
    "tremolo": (
        "make {thing} go up and down in volume like a tremolo; {thing} ought to have a tremolo; "
        "send {thing} through a tremolo; get the amplitude of {thing} to wobble",
        "but with a tremolo; quivering in loudness; with a wavering volume",
        "a version with tremolo; tremolo on it; some tremolo",
    ),
    "chorus": (
        "make {thing} sound like a double track; {thing} ought to have a chorus effect; "
        "send {thing} through a flanger; get some phasing on {thing}",
        "but with a chorus effect; double-tracked; swirling through a phaser",
        "a version with chorus; flanger on it; some flanging",
    ),
    "compressed": (
        "make {thing} less dynamic; {thing} ought to be compressed; "
        "send {thing} through a compressor; get the loudness of {thing} more even",
        "but compressed; with scarcely any dynamics; limited to an even level",
        "a compressed version; limiter on it; a compressed sound",
    ),
    "said": (
        "change what {thing} says to {words}; the last words ought to be {words}; "
        "in place of {other words} I want to hear the word {words}; "
        "drop {words} from the sentence; {thing} should add {words} to the sentence",
        "but says {words}; whose words are {words}; saying {words} at the end",
        "says {words} instead; the sentence should end with the word tonight; "
        "drop the word maybe from the sentence; say winter rather than summer; "
        "exchange the word left for right; a different sentence is spoken",
    ),
    "event": (
        "we should also hear {sound}; get {sound} out of there; "
        "have {sound} start halfway through; {sound} ought to be replaced by {other sound}; "
        "make it {sound} and not {other sound}; get some {sound} in there; wipe out {sound}; "
        "drop {sound} from the clip; complement it with {sound}",
        "but with {sound}; and there is {sound}; as {sound} sets in; amid {sound}; but no {sound}",
        "{sound} becomes {other sound}; we should also hear {qualified}; wipe out {qualified}; "
        "{qualified}; as {qualified} sets in; some {sound}; {sound} on top; without {qualified}",
    ),
}
