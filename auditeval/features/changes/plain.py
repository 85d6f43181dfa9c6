"""What asks for a change in words that the regression of `words` reads as something else."""

from __future__ import annotations

import re

from auditeval.data.change_words.vocabulary import EVENT
from auditeval.features.changes.amounts import ABOVE, BELOW, find_amount
from auditeval.features.kept import kept_alone

_DEFECT = (
    r"(?:noise|hum|hiss|static|buzz\w*|crackl\w*|echo\w*|reverb\w*|distort\w*|clipp\w*|muffl\w*)"
)
_PART = (
    rf"(?:bass|treble|lows?|mids?|highs?|(?:low|mid|high) (?:end|frequenc(?:y|ies))|{_DEFECT})\b"
    r"(?! (?:guitar|drum|line|player|singer|voice)s?\b)"
)
_BY_DB = r" by (?:about )?[\d.]+ ?(?:db|decibels?)\b"
_GENDER = r"(?:man|woman|male|female|boy|girl|lady|gentleman)"
# A sound that is named, and no measure or part of one.
_SOUND_ALONE = (
    rf"(?:the|this) (?!(?:\w+ )?(?:{_DEFECT}|bass|treble|lows?|mids?|highs?|volume|loudness|level|"
    r"gain|pitch|key|tempo|speed|pace|rate|frequenc\w*|end|range|dynamics?|tone|brightness|"
    r"presence|clarity|warmth|hall|room|ambience|background|effects?|dynamic|time|length|"
    r"duration|wobbl\w*|vibrato|tremolo|sibilan\w*|rumble|harsh\w*|sharp\w*|\w+ness)\b)"
    r"(\w+(?: \w+)?)"
)
_SOUND = rf"{_SOUND_ALONE}(?=$| (?:so|a bit|a little|slightly|by|in the)\b)"
_SOME = r"(?:some|most|much|half|parts?|a (?:bit|little|part|third|quarter)|[\d.]+ ?(?:%|percent))"
# How a sound is now, which is what is to change; and verbs and wishes that say no more than that.
_MENDED = {
    r"noisy|hiss(?:y|ing)|crackl(?:y|ing)|hum(?:my|ming)|buzz(?:y|ing)|full of noise": "noise",
    r"distorted|clipp(?:ed|ing)|overdriven|broken|damaged|corrupted|glitchy": "distortion",
    r"echo(?:y|ey|ing)|reverberant|reverby|roomy": "reverb",
}
_NOW = (
    r"(?:(?:because |since |as )?(?:it|this|that|there|(?:the|this|that|his|her|my|our|their) "
    r"(?:\w+ )?\w+)(?: is| are|'s| sounds?| seems?| was))(?: (?:all|a bit|a little|too|so|very|"
    r"quite|really|rather|far too|way too|much too|pretty))*"
)
_IT = (
    r"(?:it|this|that|him|her|them|(?:the|this|that|my|his|her) (?:voice|vocals|speech|speaker|"
    r"sound|audio|recording|clip|track|file|sample|sound quality|quality|"
    r"\w+(?= (?:clear|clean|better|good))))"
)
_VAGUE = (
    r"(?:(?:please|can you|could you|and|so|then|just|now) )*(?:(?:fix|repair|restore|correct|cure|"
    rf"improve|enhance|clean|clear|mend|adjust|sort)(?: up)?(?: {_IT})?(?: up| out)?|"
    rf"(?:make|get) {_IT} "
    r"(?:clear|clearer|clean|cleaner|better|good|nice|nicer|intelligible|understandable))"
)
_TOO, _GAIN = rf"(?=[^,;:.!]* too ){_NOW}", "volume|level|loudness"
_VAGUE_VERB = r"(?:fix|repair|restore|enhance|improve|clean(?: up)?)"


# Of age only this is beyond dispute: children are higher. Whether years raise or lower a voice is a
# matter of which and of whose: another voice, then.
_YEARS = r"(?:[2-9]|1[0-2]|two|three|four|five|six|seven|eight|nine|ten|twelve)[- ]years?[- ]old"
_CHILD = rf"(?:(?:(?:small|little|young|{_YEARS}) )*(?:child|kid|toddler|baby|infant|{_YEARS}))"
_GROWN = (
    r"(?:(?:like )?(?:an adult|a grown[- ]?up|a grown (?:man|woman|person))|grown[- ]?up|adult)"
)
_AGED = r"(?:old|older|elderly|aged|young|younger)"
_SPEAKS = r"(?:sounds?|speaks?|talks?|sings?|seems?|be|is|becomes?)"
_TALKER = (
    r"(?:h(?:im|er)|she|he|them|me|(?:the|this|that|my|his|her) (?:voice|vocals|speech|speaker|"
    r"talker|singer|narrator|m[ae]n|wom[ae]n|person|boy|girl|lady|gentleman|actor|actress))"
)
_HE, _SHE = (
    (r"(?:him|he|his|m[ae]n|male|actor)", r"(?:man|gentleman|grand(?:father|pa)|guy)", "boy"),
    (r"(?:her|she|wom[ae]n|lady|female|actress)", r"(?:woman|lady|grand(?:mother|ma))", "girl"),
)
_NEAR = r"[^,;:.!?]{0,40}?"
_AGES = (
    (
        r"(^(?:\w+ing )?|(?<!n't make )(?<!not make )(?<!never make )(?<!stop making )"
        rf"\b(?:{_TALKER}|it|i)\b{_NEAR}\b)(?<!less )(?<!not )(?:{_SPEAKS} )?(?:more )?"
        r"(?:like|as if (?:\w+ ){1,2}(?:was|were)|(?<=voice )to that of|(?<=voice )into that of) "
        rf"an? {_CHILD}(?:(?:'s)? voice)?(?=$|[,;.]| (?:and|but|so|please|instead)\b)",
        r"\1higher in pitch",
    ),
    (
        rf"\b(in|into|with|it|use|her|him) an? (?:{_CHILD}(?:'s)?|child-?like) voice\b",
        r"\1 a higher voice",
    ),
    (rf"\b({_TALKER}) (?:into an? {_CHILD}|child-?like)$", r"\1 higher in pitch"),
    (
        rf"\b((?:{_CHILD}|boy|girl)\b{_NEAR})\b(?:{_SPEAKS} )(?:more )?{_GROWN}$",
        r"\1 lower in pitch",
    ),
    (
        rf"\b({_TALKER}) (?:(?:should|must|to) )?(?:{_SPEAKS} )?"
        r"(?:(?:much|a bit|a little|slightly|(?:\w+ ){1,2}years?|a lot|even) )?"
        r"(?:younger|older|elderly)$",
        r"\1 sound like another person",
    ),
    (rf"\b(?:age|rejuvenate|de-?age) ({_TALKER})\b.*", r"make \1 sound like another person"),
    (r"\ban? (?:younger|older|elderly|aged)(?: sounding)? voice\b", "another voice"),
    *(
        (
            rf"(\b{one}\b{_NEAR})\b(?:like )?an? (?:small|little|young) {child}$",
            r"\1higher in pitch",
        )
        for one, _, child in (_HE, _SHE)
    ),
    *(
        (
            rf"(\b{one}\b{_NEAR})\b(?:like )?an? (?:very )?{_AGED} (?:{kin}|person|speaker)\b",
            r"\1like another person",
        )
        for one, kin, _ in (_HE, _SHE)
    ),
)


def _mending(words: str, thing: str) -> list[tuple[str, str]]:
    """Where a thing is to go: it is noisy, fix it; fix it, it is noisy; fix this noisy clip."""
    asked = f"remove the {thing}"
    return [
        (rf"^{_NOW} (?:{words})[,;:.!]* ?{_VAGUE}$", asked),
        (rf"^{_VAGUE}[,;:.!]* ?{_NOW} (?:{words})$", asked),
        (
            rf"\b{_VAGUE_VERB} (the|this|that|my|our|his|her|their) (?:\w+,? )?(?:{words}),? "
            r"(?:and )?",
            rf"{asked} from \1 ",
        ),
    ]


_REWRITTEN = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        *_AGES,
        *(rule for words, thing in _MENDED.items() for rule in _mending(words, thing)),
        # Duller than it should be; "clear" alone is not noisy.
        (rf"^{_NOW} (?:muffled|dull|muddy)[,;:.!]* ?{_VAGUE}$", "make it less muffled"),
        (rf"^{_VAGUE}[,;:.!]* ?{_NOW} (?:muffled|dull|muddy)$", "make it less muffled"),
        (
            rf"\b{_VAGUE_VERB} (the|this|that|my|our|his|her) (?:muffled|dull|muddy) ",
            r"brighten \1 ",
        ),
        (r"\bmake ([^,;:.!?]{1,60}?) (?:clearer|more clear)$", r"make \1 cleaner"),
        (
            r"^.*\b(?:because of|full of|lots? of|too much|there(?: is| are|'s)) (?:\w+ )?"
            r"(noise|hiss|hum|static|crackl\w+|distortion|reverb|echo)[,;:.!]+ ?"
            rf"{_VAGUE}$",
            r"remove the \1",
        ),
        (
            rf"^(?:an?|the|this|that|some)? ?((?:\w+ )?{_DEFECT}) (?:(?:is|are|gets?) (?:\w+ )?"
            r"(?:annoying|distracting|disturbing|irritating|terrible|awful|bad|ugly|unpleasant)|"
            r"(?:ruin|spoil|bother|annoy|disturb|distract|irritat)\w*\b.*)$",
            r"remove the \1",
        ),
        (
            r"^.*\b(?:can't|cannot|hard to|can (?:hardly|barely)) (?:hear|understand|make out) "
            rf".*\b(?:over|through|because of|for) (?:all )?(the|this|that) ({_DEFECT})$",
            r"remove \1 \2",
        ),
        (
            r"\b(?:change|switch|turn|convert|alter) ((?:(?:the|its|his|her|their|my) )?(?:\w+ )?"
            r"(?:rate|speed|tempo|pace|pitch|volume|level|loudness)) from (?:[a-z]+) to ([a-z]+)$",
            r"make \1 \2",
        ),
        # Too much of something is to be less; "less low" is hardly said.
        (rf"^(?:the |its )?(?:{_GAIN})\b[^,;:.!]* too low[,;:.!]* ?{_VAGUE}$", "raise the volume"),
        (rf"^(?:the |its )?(?:{_GAIN})\b[^,;:.!]* too high[,;:.!]* ?{_VAGUE}$", "lower the volume"),
        (rf"^({_TOO} (?:low|high|slow))[,;:.!]* ?{_VAGUE}$", r"\1"),
        (rf"^{_TOO} ([\w-]+)[,;:.!]* ?{_VAGUE}$", r"make it less \1"),
        (rf"^{_NOW} \w+[,;:.!]+ ?(?=(?:please )?(?:remove|reduce|take|cut|tame|get rid) )", ""),
        (r"\btam(?:e|ing)(?= the )", "reduce"),
        (
            r"\b(?:enhance|improve)(?= (?:(?:the|this) )?"
            r"(?:speech|voice|vocals|sound|clip|recording)$)",
            "improve the sound quality of",
        ),
        (rf"^{_NOW} like (?:a|the) (?:tele)?phone(?: call)?[,;:.!]+ ?(?=make )", ""),
        (
            r"\b(?:extend|expand|widen|increase|restore) (?:the |its )(?:\w+ )?bandwidth\b|"
            r"\bmake (?:it|this|the \w+)(?: sound)? full[- ]?band(?:width)?\b",
            "make it less muffled",
        ),
        # What is toned down is turned down; "a tone down" is lower.
        (
            r"(^|[,;:.] ?|\b(?:and|but|so|then|to|you|let's|just|also|now|should|not) )"
            r"ton(?:e|ing)(?= (?:\S+ ){0,4}?down\b)",
            r"\1turn",
        ),
        # Its voice is no change: what is around it is to go.
        (
            rf"\b(?:isolat|extract|separat)(?:e|ing)? (.+?) from ((?:\S+ ){{0,2}}?{_DEFECT})\b",
            r"remove \2 from \1",
        ),
        (r"^\+ ?(?=\d+(?:\.\d+)? ?(?:db|decibels?)$)", "raise the volume by "),
        (r"^[-−–] ?(?=\d+(?:\.\d+)? ?(?:db|decibels?)$)", "lower the volume by "),
        (r"^\+ ?(?=\d+(?:\.\d+)? ?(?:st|semitones?)$)", "raise the pitch by "),
        (r"^[-−–] ?(?=\d+(?:\.\d+)? ?(?:st|semitones?)$)", "lower the pitch by "),
        (BELOW.pattern, "down by "),
        (ABOVE.pattern, "up by "),
        # The level of a part of the sound is none of all of it.
        (rf"^(?:the )?({_PART}):? down{_BY_DB}", r"reduce the \1"),
        (rf"^(?:the )?({_PART}):? up{_BY_DB}", r"boost the \1"),
        (rf"\bturn(?:ing)? (the (?:\w+ )?{_PART}) down{_BY_DB}", r"reduce \1"),
        (rf"\b(the (?:\w+ )?{_PART})(?: up| down)?{_BY_DB}", r"\1"),
        (
            r"\b(?:fix|repair|stop|correct|restore|cure)\b"
            rf"(?= (?:the |this |any )?(?:\w+ )?{_DEFECT})",
            "remove",
        ),
        (r"\bclipp(?:ing|ed)\b", "distortion"),
        (
            rf"\bmake the ((?:\w+ )?{_DEFECT}) "
            r"(?:quieter|softer|lower|shorter|weaker|less loud)\b",
            r"reduce the \1",
        ),
        (r"\b(?:de-?reverb\w*|dereverb\w*)\b(?! from)", "remove the reverb from"),
        (r"\bstop(?: from)? (\w+ing)\b", r"not be \1"),
        (r"\b(?:do not|don't) (\w+(?: \w+){0,3}?) (?:so|quite so) (?=(?!much)\w+$)", r"\1 less "),
        (r"\b(should|must|is|are|does)n't\b", r"\1 not"),
        (r"\b(not|n't)((?: \w+){0,2}) so\b", r"\1\2"),
        (r"\b(?:further|farther|far)(?: away)? from the \w+", "far away"),
        (r"\bmove (.+?) far away", r"make \1 sound far away"),
        (
            rf"\b(make|let|turn|change|convert|raise|lower|replace) (?:the|this) {_GENDER}"
            r"(?:'s)?(?: (?:speaker|voice|singer|speech))?\b",
            r"\1 the voice",
        ),
        (r"(?<=\w) (?:rather than|instead of) (?:being )?\w+$", ""),
        (r"^low[- ]?pass\b(?! filter)", "apply a low-pass filter to"),
        (r"^high[- ]?pass\b(?! filter)", "apply a high-pass filter to"),
        (
            r"\b(?:everything|all|(?:all |the |the high )?frequencies) (?:above|over) "
            r"\S+ ?k?(?:hz)?",
            "the treble",
        ),
        (
            r"\b(?:everything|all|(?:all |the |the low )?frequencies) (?:below|under) "
            r"\S+ ?k?(?:hz)?",
            "the bass",
        ),
        (r"^(?:very )?(high|low)$", r"\1 pitched"),
        (r"\bup[- ]?tempo\b(?! of)", "fast"),
        (r"\bdown[- ]?tempo\b(?! of)", "slow"),
        (r"\b(?:lows|low end|low frequencies)\b", "bass"),
        (r"\b(?:highs|high end|high frequencies)\b", "treble"),
        (r"\b(?:remove|filter out|attenuate|cut|roll off)(?= the (?:bass|treble)\b)", "reduce"),
        (rf"^(?:boost|amplify) {_SOUND}", r"turn up the \1"),
        (rf"^(?:reduce|attenuate|duck|lessen|diminish) {_SOUND}", r"turn down the \1"),
        (
            rf"^(?:remove|delete|take (?:out|away)|cut|drop|filter out) {_SOME}(?: of)? {_SOUND}",
            r"turn down the \1",
        ),
        (rf"^(?:partly|partially) (?:remove|delete|mute) {_SOUND}", r"turn down the \1"),
        (
            rf"^(?:remove|delete|cut|drop|mute) {_SOUND_ALONE}(?= (?:partly|partially|slightly|"
            r"somewhat|a bit|a little|by (?:half|a \w+|[\d.]+ ?(?:%|percent)))$)",
            r"turn down the \1",
        ),
        (r"^bring ((?:the|his|her|my) \w+(?: \w+)?) (up|down)$", r"turn \1 \2"),
        (r"^bring (.+?) (?:forward|to the front|to the fore(?:ground)?)\b", r"turn up \1"),
        (
            r"^(?:(?:push|move|send|pull|put|place|drop|set) (?=(?:the|this|his|her|my|its) "
            r"(?!(?:sounds?|noises?) of\b))|fade )(.+?) (?:back )?(?:into|in|to) the background\b",
            r"turn down \1",
        ),
        (
            r",? so (?:that )?(?:the|i|we|you|one|it|people)\b.*\b(?:hear|heard|audible|"
            r"stands? out|comes? through|understand|understood)\b.*",
            "",
        ),
    )
)
_OF_TIME = re.compile(
    r"\b(?:cross)?fad(?:e|es|ing)[- ]?(?:in|out|it)?\b|\b(?:trim|crop|(?<!\w )loop|reverse)\b|"
    r"\bcut (?:off |out )?(?:the )?(?:first|last) (?:\S+ )?(?:seconds?|minutes?|half|part)\b|"
    r"^delay (?:the|this)\b|\b(?:increase|expand|widen|restore) the (?:dynamic range|dynamics)\b"
)
# How fast it is to be: which way that is, the words do not tell.
_AT_A_PACE = re.compile(
    r"^(?!.*\b(?:from|by|faster|slow\w*|up|down|rais\w+|lower\w*|increas\w+|decreas\w+|reduc\w+|"
    r"drop\w*|quick\w*|more|less|higher|bring|rush\w*)\b).*\b\d+(?:\.\d+)? ?"
    r"(?:bpm|beats per minute|wpm|words per minute)\b"
)
_OF_MODE = re.compile(r"\bmajor\b.* to .*\bminor\b|\bminor\b.* to .*\bmajor\b")
# Of a part of the clip alone nothing here is measured.
_STRETCH = (
    r"(?:seconds?|minutes?|milliseconds?|half|halves|parts?|third|quarter|sections?|segments?|"
    r"bars?|beats?|notes?|verses?|chorus|barks?|knocks?|rings?|claps?|beeps?|hits?|shots?|"
    r"gunshots?|shouts?|screams?|coughs?|laughs?|meows?|chirps?|(?:foot)?steps?|honks?|bangs?|"
    r"strikes?|clicks?|calls?|cry|cries|sneezes?|crash|explosions?|words?|sentences?|syllables?|"
    r"phrases?|lines?)"
)
_WHICH = r"(?:first|second|third|fourth|fifth|last|final|opening|closing|initial|middle)"
_FEW = r"(?:(?:[\d.]+|two|three|four|five|ten|few|couple of) )?"
_MOMENT = r"(?:\d+:\d\d|[\d.]+ ?(?:s|secs?|seconds?|min|minutes?))\b(?! long)"
_PART_OF_TIME = re.compile(
    rf"\bthe (?:very )?{_WHICH} {_FEW}{_STRETCH}\b(?! (?:voice|track|guitar|speaker))|"
    rf"\bthe (?:very )?(?:ending|beginning|start|middle|intro|outro|(?<!in the )end)\b"
    r"(?! (?:of an?|frequenc\w*|range|register|band|result|user|c|ear)\b)|"
    rf"\b(?:only|just) the {_WHICH} (?!voice|speaker|talker|singer|m[ae]n|wom[ae]n|person|track|"
    r"channel|layer|instrument|violin|guitar|piano|microphone|mic)\w|"
    rf"^(?!.*\b(?:echo|delay|decay|reverb|tail|length|shorten|stretch|squeez|compress|duration))"
    rf".*\b(?:at|from|after|until|till|between)(?: about| around)? (?:[\d.:]+(?: ?{_MOMENT})? ?"
    rf"(?:to|and|until|-|–) ?)?{_MOMENT}"
)
_OF_A_WORD = re.compile(
    r"\"word\" (?:\w+ ){0,2}?(?:louder|quieter|softer|higher|lower|deeper|faster|slower|clearer)$|"
    r"\b(?:volume|loudness|level|pitch|speed|pace) (?:of|on) (?:the )?(?:\w+ )?\"word\""
)
_THROUGHOUT = re.compile(
    r"\b(?:(?:right )?from (?:the (?:very )?)?(?:beginning|start)(?: of (?:it|the \w+))?"
    r"(?: (?:right |all the way )?to (?:the (?:very )?)?end)?|until the end)\b"
)
# What is to stay as it is, and nothing else; "don't make it so loud" asks for less.
_NOTHING = re.compile(
    r"(?:(?:please|so|and|just) )*(?:"
    r"(?:do not|don't|never|no need to|there is no need to|you (?:must|should) not) "
    r"(?!.*\b(?:so|too|such|that|as|your|but)\b)(?:add|insert|introduce|apply|remove|delete|mute|"
    r"replace|swap|distort|change|alter|touch|modify|affect|edit|raise|"
    r"lower|increase|decrease|reduce|boost|amplify|attenuate|speed|slow|turn|shift|transpose|"
    r"make .+ (?:\w+er|(?:more|less) \w+)$)\b[^,;.]*|"
    r"(?:leave|keep) (?:it|this|that|everything|all of it|the \w+)(?: all| exactly| just)? "
    r"(?:(?:as|like|how) (?:it|they) (?:is|are|was|were)|the same|unchanged|untouched|alone|"
    r"intact)|(?:(?:play|speak|keep|leave|set|put)(?: (?:it|this|that|the \w+))?(?: back)? )?"
    r"(?:(?:at|to|in|with) )?(?:an? |the |its )?(?:normal|regular|usual|original|ordinary) "
    r"(?:speed|tempo|pace|rate|pitch|volume|loudness|level)|do nothing\b[^;.]*|"
    r"(?:change|touch|alter) nothing|no changes?|(?:do not|don't) do anything|"
    r"nothing (?:should|is to|must) (?:be )?changed?)"
)
_PACE = re.compile(
    r"\b(?:speed|tempo|pace|rate|play\w*|as long|length\w*|duration|longer|short(?:er|en\w*)|"
    r"stretch\w*|bpm|(?:half|double|twice) (?:the )?time)\b|^x ?[\d.]+$|^[\d.]+ ?[x×]$"
)
_MORE = re.compile(r"\b(?:and|then|so|with)\b|(?<!thing )(?<!all )(?<!sounds )\bbut\b|[,;]")
"""Where what is to be kept alone may not be all that is asked for."""
_LEVEL = re.compile(r"\b(?:volume|loudness|gain)\b")
_PITCH_AT = re.compile(r"\bpitch\b(?: \w+)? ?(?:at|to|of|[:=]) ?(\d+(?:\.\d+)?) ?(?:%|percent\b)")
_OTHER = re.compile(
    r"\b(?:add|insert|pitch|noise|reverb\w*|echo\w*|bass|treble|lufs|slow\w*|fast\w*|quick\w*|"
    r"pauses?|silences?|gaps?|decay|tail|attack|release|stereo)\b"
)


def in_plain_words(text: str) -> str:
    """What `said_apart` left of a text, in words that the regression knows.

    >>> in_plain_words("fix the hiss"), in_plain_words("shift the pitch by -3 semitones")
    ('remove the hiss', 'shift the pitch down by 3 semitones')
    """
    for pattern, words in _REWRITTEN:
        text = pattern.sub(words, text)
    return " ".join(_THROUGHOUT.sub("", text).split())


def of_a_part(text: str) -> bool:
    """Whether a text tells of a part of a clip's time alone.

    >>> of_a_part("make the first half louder"), of_a_part("make it louder from the start")
    (True, False)
    """
    return bool(_PART_OF_TIME.search(_THROUGHOUT.sub("", text)))


def told_outright(text: str) -> str | None:
    """The change that a text can only mean, None where it takes the regression to tell.

    A ratio of pace or of level tells by its number; what is done to the time of a clip, as to fade
    or to trim it, is none of the changes of how a sound sounds, nor is what is to stay as it is.

    >>> told_outright("set the speed to 0.8x"), told_outright("fade out at the end")
    ('slower', 'event')
    """
    if (
        _OF_TIME.search(text)
        or _AT_A_PACE.search(text)
        or _OF_MODE.search(text)
        or _OF_A_WORD.search(text)
        or _NOTHING.fullmatch(text)
        or (kept_alone(text) and not _MORE.search(text))
    ):
        return EVENT
    if at := _PITCH_AT.search(text):
        percent = float(at[1])
        return EVENT if percent == 100 else "pitch_up" if percent > 100 else "pitch_down"
    found = find_amount(text)
    if found is None or found.unit != "ratio" or found.value == 1 or _OTHER.search(text):
        return None
    if _LEVEL.search(text):
        return "louder" if found.value > 1 else "softer"
    return ("faster" if found.value > 1 else "slower") if _PACE.search(text) else None
