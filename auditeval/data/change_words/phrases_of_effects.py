"""Wordings to fit on, of rooms, colours and effects; see `phrases`."""

PHRASES: dict[str, tuple[str, str, str]] = {
    "more_reverb": (
        "add [|more |some ]reverb[|eration] to {thing}; "
        "make {thing} [more reverberant|sound far away|more distant|sound spacious]; "
        "put {thing} in a [large hall|cathedral|church|big room|cave|bathroom|tunnel]; "
        "make {thing} sound like [it is|] in a [concert hall|cathedral|large room|cave]; "
        "[increase|raise] the [reverb|reverberation|amount of reverb] of {thing}; "
        "move {thing} [farther away|into the distance|to a larger room]; "
        "{thing} should be [wetter|more reverberant|farther away]; place {thing} in a big space; "
        "have {thing} sound as in a huge church; I would like more room sound on {thing}; "
        "make the room around {thing} bigger; apply a long hall reverb to {thing}; "
        "make {thing} more echoey, like in an empty hall; let {thing} come from a long way off; "
        "simulate a concert hall around {thing}; "
        "could {thing} sound like it was recorded in a church; put some reverb on {thing}; "
        "make {thing} seem further off; let {thing} ring out in a big hall; "
        "simulate the acoustics of a large cathedral for {thing}; {thing} is too dry, add reverb",
        "in a [large hall|cathedral|church|big empty room|cave|tunnel|stairwell]; "
        "[from far away|in the distance|far from the microphone]; with [|much |more ]reverb; "
        "in a reverberant room; inside a huge church; from a long way off; in an empty gymnasium; "
        "with a long reverb tail; now in a vast echoing hall; as if in a big cathedral; "
        "with strong reverberation; somewhere far in the distance",
        "reverb; reverberant; more reverb; far away; distant; farther; large hall; cathedral; "
        "in a large room; reverberation; wet; hall reverb; room reverb; spacious; "
        "very reverberant; echoey hall; at a great distance; huge room; added reverb; "
        "long reverb tail; large room acoustics; reverberating; from a distance; cathedral reverb",
    ),
    "less_reverb": (
        "remove the [reverb|reverberation|room|echo] [from|of] {thing}; "
        "[reduce|decrease|lower|cut] the [reverb|reverberation|echo|amount of reverb] of {thing}; "
        "make {thing} [dry|drier|less reverberant|less distant|less roomy]; "
        "dereverberate {thing}; "
        "[make {thing} sound|bring {thing}] [close|closer][| to the microphone]; "
        "make {thing} sound like it is in a [small room|recording booth|dead room]; "
        "{thing} should be [drier|closer|less reverberant|without reverb]; "
        "take the [room|reverb] out of {thing}; get rid of the [reverb|echo] of {thing}; "
        "have {thing} sound as in a dead studio; I would like less room sound on {thing}; "
        "make the room around {thing} smaller; strip the reverb off {thing}; "
        "clean {thing} of its reverberation; bring {thing} nearer to the listener; "
        "dry {thing} up, without the hall; "
        "could {thing} sound like it was recorded in a dry booth; take the reverb off {thing}; "
        "make {thing} seem closer; undo the reverberation of {thing}; "
        "simulate the acoustics of a tiny dry room for {thing}; {thing} is too reverberant, dry it",
        "[close to the microphone|close by|nearby|up close]; in a [small|dry|dead] room; "
        "with [less|no] reverb; without [reverb|reverberation|echo]; in a recording booth; "
        "inside a padded studio; right next to the listener; in a room without reverberation; "
        "with a short reverb tail; now in a small dry room; as if close to the microphone; "
        "with weak reverberation; very close by",
        "dry; drier; close; closer; nearby; less reverb; no reverb; dereverberated; small room; "
        "without reverb; anechoic; remove the reverb; remove the echo; remove the reverberation; "
        "less echo; no echo; dereverb; less reverberant; less distant; hardly reverberant; "
        "nearer; dry studio sound; room removed; reverb removed; suppress the reverberation; "
        "small room acoustics; without room reverb; from up close; reverb suppressed",
    ),
    "brighter": (
        "make {thing} "
        "[brighter|crisper|crisp|clearer in the highs|sharper|less muffled|less dull]; "
        "[boost|raise|increase|add|turn up] the [treble|highs|high frequencies|high end] "
        "[of|in] {thing}; "
        "[cut|reduce|lower|remove|turn down] the [bass|lows|low frequencies|low end] "
        "[of|in] {thing}; {thing} should [be|sound] [brighter|crisper|less muffled]; "
        "high-pass {thing}; add [brilliance|presence|air|sparkle] to {thing}; "
        "apply a [high-pass filter|high shelf boost] to {thing}; give {thing} more high end; "
        "I would like more treble on {thing}; open up {thing} at the top; "
        "lift the upper frequencies of {thing}; roll off the low frequencies of {thing}; "
        "have {thing} sound clear and shiny; make {thing} less boomy; "
        "could {thing} sound a bit brighter; put some more treble on {thing}; "
        "make {thing} less dark; let {thing} have more top end; "
        "use an equalizer to boost the highs of {thing}; {thing} is too muffled, brighten it",
        "[brightly|crisply]; with [more treble|bright treble|less bass|a bright sound]; "
        "with boosted high frequencies; in a [bright|crisp] tone; no longer muffled; "
        "with lots of treble; with a sparkling top end; with little bass; "
        "sounding crisp and clear; now with a brighter sound; as if no longer muffled; "
        "with strong highs; with the bass cut",
        "bright; brighter; crisp; crisper; more treble; less bass; treble boost; high-passed; "
        "tinny; brilliant; sharp; less muffled; not muffled; thin; unmuffled; high pass filter; "
        "less dull; more high frequencies; crisp sound; shinier; bass reduced; treble raised; "
        "bass cut; brightened; bright timbre; treble boosted; low frequencies removed",
    ),
    "duller": (
        "make {thing} "
        "[duller|muffled|darker|dull|warmer|boomy|less bright|less crisp|less sharp]; "
        "[cut|reduce|lower|remove|turn down] the [treble|highs|high frequencies|high end] "
        "[of|in] {thing}; "
        "[boost|raise|increase|add|turn up] the [bass|lows|low frequencies|low end] "
        "[of|in] {thing}; {thing} should [be|sound] [duller|darker|muffled|less bright]; "
        "low-pass {thing}; "
        "make {thing} sound like it is "
        "[behind a door|behind a wall|under water|in the next room]; "
        "apply a [low-pass filter|high cut] to {thing}; muffle {thing}; "
        "give {thing} less high end; I would like more bass on {thing}; "
        "take the sharpness out of {thing}; lower the upper frequencies of {thing}; "
        "roll off the high frequencies of {thing}; "
        "have {thing} sound as from behind a thick door; dampen the treble of {thing}; "
        "could {thing} sound a bit more muffled; put some more bass on {thing}; "
        "make {thing} less sharp; let {thing} have less top end; "
        "use an equalizer to cut the highs of {thing}; {thing} is too bright, darken it",
        "[behind a closed door|behind a wall|through a wall|under water|under a blanket]; "
        "with [less treble|more bass|a muffled sound|a dark tone]; in a [muffled|dull] tone; "
        "muffled by a door; as if heard from the next room; with lots of bass; "
        "with little treble; sounding dull and muffled; now with a duller sound; "
        "as if behind a wall; with weak highs; with the bass boosted",
        "muffled; dull; duller; dark; darker; more bass; less treble; bass boost; low-passed; "
        "warm; boomy; behind a door; less bright; not so bright; low pass filter; muffle; "
        "less crisp; fewer high frequencies; muffled sound; bassier; treble reduced; bass raised; "
        "from next door; darkened; dark timbre; treble cut; high frequencies removed",
    ),
    "narrow": (
        "make {thing} sound like [it is on|it comes over|] [a|the|an old] "
        "[telephone|phone|radio]; "
        "[put|play] {thing} [on|over|through] "
        "[a phone line|the radio|a walkie-talkie|a megaphone]; "
        "apply a [telephone|radio|phone|band-pass|bandpass] [filter|effect] to {thing}; "
        "limit the [bandwidth|band] of {thing}; {thing} should sound like a [phone call|radio]; "
        "band-pass {thing}; add a [telephone|radio] effect to {thing}; "
        "make {thing} sound like an old gramophone; have {thing} sound as in a phone call; "
        "make it sound as if {thing} came from a tiny radio; filter {thing} like a telephone; "
        "give {thing} a lo-fi radio sound; restrict {thing} to telephone bandwidth; "
        "send {thing} through a walkie-talkie; could {thing} sound like a telephone call; "
        "put a radio effect on {thing}; make {thing} sound like an old radio broadcast; "
        "let {thing} come out of a phone; use a band-pass filter on {thing} like a telephone",
        "[on|over] [the phone|the telephone|a radio|an intercom|a walkie-talkie]; "
        "through a [telephone|small speaker|megaphone]; with a telephone sound; "
        "as if on an old radio; in telephone quality; from the earpiece of a telephone; "
        "through an old transistor radio; as on a bad phone line; now over a telephone line; "
        "as if on the radio; through a crackling walkie-talkie",
        "telephone effect; radio effect; telephone quality; over the phone; on the radio; "
        "narrowband; narrow band; band-limited; bandpass filter; through a megaphone; "
        "like a phone call; phone filter; lo-fi radio sound; phone-like sound; "
        "telephone bandwidth; radio-like; walkie-talkie effect; band-pass filtered; "
        "telephone sound; old radio effect; heard over the phone",
    ),
    "echo": (
        "add [an|some|a strong] [echo|echo effect] to {thing}; "
        "make {thing} [echo|echoing|echoed]; add [a|] [delay|slapback|repeats] to {thing}; "
        "apply [an echo|a delay] [effect|] to {thing}; let {thing} echo [|back|several times]; "
        "give {thing} an echo; {thing} should echo; put a delay on {thing}; "
        "make {thing} repeat like in the mountains; have {thing} come back as an echo; "
        "I would like an echo on {thing}; put [an echo|some echo] on {thing}; "
        "use a delay effect with feedback on {thing}; "
        "make {thing} bounce back like a shout in a canyon; could {thing} have an echo; "
        "put a little delay effect on {thing}; make {thing} echo in the distance; "
        "let {thing} be repeated by echoes; use a tape echo on {thing}",
        "with [an echo|echoes|a long echo|a delay]; echoing; and echoes back; "
        "with repeated echoes; as it echoes; with a clear echo; repeated by an echo; "
        "with its echo coming back; now with an echo; as if echoing through the valley; "
        "with strong echoes",
        "echo; echoes; echoing; echo effect; more echo; delay effect; with echo; slapback echo; "
        "ping-pong delay; repeating echoes; audible echo; added echo; echo added; an echo of it; "
        "delayed repeats; strong echo; echoing sound; a delay with repeats",
    ),
    "distorted": (
        "[distort|overdrive|clip|saturate|crush] {thing}; "
        "add [|some |more |heavy ][distortion|overdrive|clipping|fuzz|saturation] to {thing}; "
        "make {thing} [distorted|overdriven|clipped|fuzzy|gritty]; "
        "apply [a|] [distortion|overdrive|bitcrusher|fuzz] [effect|] to {thing}; "
        "{thing} should [be|sound] distorted; run {thing} through a distortion pedal; "
        "let {thing} clip; have {thing} sound distorted; "
        "I would like {thing} to be heavily overdriven; drive {thing} into clipping; "
        "put a fuzz pedal on {thing}; dirty up {thing} with distortion; "
        "make {thing} sound like a blown speaker; could {thing} be more distorted; "
        "put a little overdrive on {thing}; make {thing} clip hard; "
        "let {thing} sound broken and distorted; use a fuzz box on {thing}",
        "with [|heavy |harsh ][distortion|overdrive|clipping|fuzz]; with a distorted sound; "
        "in a distorted voice; through an overdriven amplifier; distorted; "
        "with strong distortion; as from a blown speaker; sounding clipped and harsh; "
        "heavily distorted; now with heavy distortion; as if through an overloaded amp; "
        "with strong clipping",
        "distorted; distortion; overdriven; overdrive; clipped; clipping; fuzz; saturated; "
        "gritty; bit-crushed; distortion effect; more distortion; harsh distortion; "
        "heavy overdrive; hard clipping; fuzzy distortion; added distortion; badly clipped; "
        "strong distortion; distorted sound; overdriven amp",
    ),
    "noisier": (
        "add [|some |more |white |pink |background |a bit of ][noise|hiss|static|hum] to {thing}; "
        "make {thing} [noisier|noisy|more noisy|hissy]; {thing} should [be|sound] noisy; "
        "[increase|raise] the [noise|hiss|noise level] of {thing}; add vinyl crackle to {thing}; "
        "degrade {thing} with noise; lower the signal to noise ratio of {thing}; "
        "put static on {thing}; bury {thing} in noise; have {thing} sound hissy; "
        "I would like more noise on {thing}; "
        "mix white noise into {thing}; lay a hiss under {thing}; "
        "make the background of {thing} noisy; raise the noise floor of {thing}; "
        "worsen {thing} with tape hiss; could {thing} be noisier; put some tape hiss on {thing}; "
        "make {thing} drown in static; let {thing} have background noise; "
        "contaminate {thing} with white noise; {thing} is too clean, add noise",
        "with [|loud |more |added |constant ][noise|hiss|static|white noise]; in [noise|static]; "
        "over a hissing background; with a noisy background; under a layer of white noise; "
        "with audible hiss; amid static; with a raised noise floor; now with a constant hiss; "
        "as if over a noisy channel; with strong background noise",
        "noise; noisy; noisier; hiss; static; more noise; white noise; background noise; "
        "add noise; add static; add hiss; add white noise; hissing noise; hissy; tape hiss; "
        "static noise; added noise; noise added; more static; higher noise floor; strong noise; "
        "noisy sound; hissing in the background; audible static",
    ),
    "cleaner": (
        "remove the [noise|background noise|hiss|static|hum|crackle|distortion|clicks|buzz] "
        "[from|of|in] {thing}; [denoise|clean|clean up|declick] {thing}; "
        "[reduce|lower|suppress|decrease|filter out] the "
        "[noise|background noise|hiss|static|hum] [in|of] {thing}; "
        "make {thing} [cleaner|clean|less noisy|less distorted]; get rid of the noise in {thing}; "
        "{thing} should be [cleaner|clean|free of noise|less noisy]; "
        "improve the [quality|sound quality] of {thing}; enhance {thing}; restore {thing}; "
        "have {thing} sound free from noise; I would like less noise on {thing}; "
        "strip the hiss off {thing}; take the background noise away from {thing}; "
        "lower the noise floor of {thing}; eliminate the static in {thing}; "
        "make {thing} sound clean like in a studio recording; could {thing} be cleaner; "
        "take the tape hiss off {thing}; make {thing} free of static; "
        "let {thing} have no background noise; denoise {thing} for me; "
        "{thing} is too noisy, clean it; remove hum and hiss from {thing}",
        "without [|any |background ][noise|hiss|static|distortion]; with [less|no] noise; "
        "free of noise; in clean quality; in a quiet background; with the noise removed; "
        "without audible hiss; free from static; with a lowered noise floor; "
        "now without the constant hiss; as if from a noise-free studio; with weak background noise",
        "clean; cleaner; denoised; noise-free; less noise; no noise; remove the noise; less hiss; "
        "remove background noise; remove the static; remove the hiss; noise reduction; "
        "less static; undistorted; less distortion; speech enhancement; remove the distortion; "
        "less noisy; no hiss; noise removed; clean recording; noiseless; suppress the noise; "
        "eliminate noise; filter out the hum; background noise removed; clean sound; "
        "noise suppressed; without background hiss; denoised recording",
    ),
    "tremolo": (
        "add [a|some|more] tremolo to {thing}; "
        "make {thing} [tremble|wobble|pulsate|throb] [in loudness|in volume]; "
        "apply [a tremolo|amplitude modulation] to {thing}; "
        "make the [volume|loudness] of {thing} [wobble|fluctuate|go up and down quickly|pulse]; "
        "modulate the amplitude of {thing}; {thing} should have a tremolo; "
        "give {thing} a tremolo effect; have {thing} tremble in volume; "
        "I would like a tremolo on {thing}; put tremolo on {thing}; "
        "let the loudness of {thing} swell and fade periodically; "
        "use an amplitude tremolo of a few hertz on {thing}; could {thing} have a tremolo; "
        "put a slow tremolo on {thing}; make the level of {thing} rise and fall repeatedly; "
        "let the volume of {thing} flutter",
        "with [a|] tremolo; with a [wobbling|pulsating|fluctuating] [loudness|volume]; "
        "wobbling in loudness; with trembling volume; with a quick tremolo; "
        "with periodically changing loudness; with a trembling level; now with a tremolo effect; "
        "as if its volume was trembling; with strong tremolo",
        "tremolo; tremolo effect; wobbling; pulsating volume; amplitude modulation; trembling; "
        "fluctuating loudness; wobbly volume; pulsing loudness; added tremolo; amplitude tremolo; "
        "throbbing volume; tremolo added; strong tremolo; fluttering volume; "
        "periodic amplitude modulation",
    ),
    "chorus": (
        "add [a|some|more] [chorus|flanger|phaser|chorus effect] to {thing}; "
        "[double|thicken] {thing}; apply [a chorus|a flanger|a phaser|doubling] to {thing}; "
        "make {thing} [sound doubled|like several at once|sound like a choir]; "
        "{thing} should be doubled; make {thing} wide with a chorus; "
        "give {thing} a [flanging|chorus|phasing] effect; have {thing} sound thick with chorus; "
        "I would like a flanger on {thing}; put chorus on {thing}; use a phaser on {thing}; "
        "layer detuned copies over {thing}; could {thing} have a chorus effect; "
        "put a slow flanger on {thing}; make {thing} fuller by doubling it; "
        "let {thing} shimmer with a chorus",
        "with [a|] [chorus|flanger|phaser] effect; with [doubled|thickened] sound; "
        "doubled by detuned copies; with flanging; thickened by a chorus; "
        "with a sweeping flanger; as with a chorus pedal; now with a chorus effect; "
        "as if doubled by many voices; with a strong phaser",
        "chorus; chorus effect; flanger; flanging; phaser; doubling; doubled; thickened; "
        "ensemble; flanger effect; phaser effect; detuned copies; added chorus; sweeping flanger; "
        "chorus pedal; chorus added; detuned doubling; strong chorus; doubled voice; flanged sound",
    ),
    "compressed": (
        "[compress|limit] {thing}; add [|some |more |heavy ][compression|limiting] to {thing}; "
        "[reduce|narrow|squash|compress] the [dynamics|dynamic range] of {thing}; "
        "[even out|level] the [dynamics|loudness|levels] of {thing}; "
        "apply [a compressor|dynamic compression|a limiter] to {thing}; "
        "{thing} should be compressed; make {thing} [punchier|evenly loud|even in loudness]; "
        "make the quiet and the loud parts of {thing} equally loud; "
        "have {thing} sound heavily compressed; I would like more compression on {thing}; "
        "put a compressor on {thing}; make the dynamic range of {thing} smaller; "
        "use a limiter on {thing}; smooth out the volume differences in {thing}; "
        "could {thing} be more compressed; put a strong limiter on {thing}; "
        "make {thing} even in level; let the dynamics of {thing} be flattened",
        "with [|strong |heavy ]compression; with a [small|reduced|narrow] dynamic range; "
        "at an even loudness; with compressed dynamics; with little dynamic range; "
        "through a strong compressor; with its dynamics evened out; now with heavy compression; "
        "as if squashed by a limiter; with flattened dynamics",
        "compressed; compression; compressor; limiter; limited dynamics; "
        "dynamic range compression; even loudness; punchy; squashed dynamics; levelled; "
        "smaller dynamic range; more compression; strong compressor; evened-out dynamics; "
        "strong compression; flattened dynamics; compressor effect; limited dynamic range",
    ),
}
