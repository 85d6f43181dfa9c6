"""Wordings to fit on, of whose voice it is, how it speaks and what it says; see `phrases`."""

PHRASES: dict[str, tuple[str, str, str]] = {
    "female": (
        "make {thing} [sound like a woman|female|a woman|sound feminine|more feminine]; "
        "[change|convert|turn|transform] {thing} [to|into] [a woman's|a female|a lady's] voice; "
        "{thing} should [sound like|be] a [woman|girl|female]; "
        "use a [female|woman's] voice for {thing}; let a woman speak instead of {thing}; "
        "give {thing} a [female|woman's|feminine] voice; change the gender of {thing} to female; "
        "have {thing} spoken by a woman; swap the voice of {thing} for that of a woman; "
        "I would like {thing} to be a female voice; feminize {thing}; "
        "use a lady's voice in place of {thing}; "
        "convert the speech of {thing} to a female speaker; could {thing} be a woman; "
        "recast {thing} with a woman's voice; a woman should be heard in place of {thing}; "
        "do a male-to-female conversion of {thing}; let {thing} take on a female timbre",
        "in the voice of a [woman|lady|girl]; with a [female|woman's|feminine] voice; "
        "in a [female|woman's] voice; sounding like a woman; as a woman would; "
        "spoken by a female speaker; with the voice of a young woman; now with a lady's voice; "
        "as if a girl was talking; in a distinctly feminine voice",
        "woman; female; girl; female voice; a woman's voice; female speaker; feminine; lady; "
        "male to female; from a man to a woman; change the man's voice to a woman's voice; "
        "replace the man's voice with a woman's; make the man a woman; a woman instead of a man; "
        "female voice instead of male; a lady's voice; from male to female; by a woman; "
        "a female talker; feminine voice; the voice of a woman; adult female",
    ),
    "male": (
        "make {thing} [sound like a man|male|a man|sound masculine|more masculine]; "
        "[change|convert|turn|transform] {thing} [to|into] [a man's|a male|a gentleman's] voice; "
        "{thing} should [sound like|be] a [man|boy|male]; use a [male|man's] voice for {thing}; "
        "let a man speak instead of {thing}; give {thing} a [male|man's|masculine] voice; "
        "change the gender of {thing} to male; have {thing} spoken by a man; "
        "swap the voice of {thing} for that of a man; I would like {thing} to be a male voice; "
        "masculinize {thing}; use a gentleman's voice in place of {thing}; "
        "convert the speech of {thing} to a male speaker; could {thing} be a man; "
        "recast {thing} with a man's voice; a man should be heard in place of {thing}; "
        "do a female-to-male conversion of {thing}; let {thing} take on a male timbre",
        "in the voice of a [man|gentleman|boy]; with a [male|man's|masculine] voice; "
        "in a [male|man's] voice; sounding like a man; as a man would; spoken by a male speaker; "
        "with the voice of a young man; now with a gentleman's voice; as if a boy was talking; "
        "in a distinctly masculine voice",
        "man; male; boy; male voice; a man's voice; male speaker; masculine; gentleman; "
        "female to male; from a woman to a man; change the woman's voice to a man's voice; "
        "replace the woman's voice with a man's; make the woman a man; a man instead of a woman; "
        "male voice instead of female; a gentleman's voice; from female to male; by a man; "
        "a male talker; masculine voice; the voice of a man; adult male",
    ),
    "other_talker": (
        "make {thing} [sound like|be] [someone else|another person|a different person]; "
        "[change|convert|turn] {thing} [to|into] [another|a different] [voice|speaker|talker]; "
        "use [another|a different] [voice|speaker] for {thing}; "
        "{thing} should sound like [somebody else|a different speaker]; "
        "replace the voice of {thing} with [that of another person|someone else's]; "
        "change the [identity|voice|timbre] of {thing}; "
        "let another person say it instead of {thing}; have {thing} spoken by someone new; "
        "swap the speaker of {thing} for another; "
        "I would like a different person in place of {thing}; "
        "convert {thing} to a new speaker identity; make it a different talker than {thing}; "
        "could {thing} be another speaker; recast {thing} with somebody else's voice; "
        "a different talker should be heard in place of {thing}; "
        "do a voice conversion of {thing}; let {thing} take on the timbre of another person",
        "in [another|a different] voice; in the voice of [someone else|another speaker]; "
        "with another voice; by a different speaker; with the voice of another person; "
        "spoken by somebody else; in an unfamiliar voice; "
        "now with the voice of someone different; as if another person was talking",
        "another speaker; different speaker; another voice; another person; someone else; "
        "a different voice; voice conversion; other talker; clone another voice; "
        "change the speaker; the same words by another speaker; an old person's voice; "
        "new speaker; voice of a different person; speaker changed; different talker; "
        "a different person talking; changed speaker identity; a stranger's voice",
    ),
    "whispered": (
        "make {thing} [whisper|whispered|a whisper]; "
        "[turn|change|convert] {thing} into a whisper; "
        "{thing} should [whisper|be whispered|be a whisper]; let {thing} whisper; "
        "have {thing} whisper the words; make {thing} speak in a whisper; "
        "change the speaking style of {thing} to whispering; "
        "have {thing} speak in a whispering voice; I would like {thing} to be whispering; "
        "switch {thing} to whispered speech; render {thing} as a whisper; "
        "make it sound like {thing} is whispering a secret; could {thing} be whispered; "
        "turn {thing} into whispered speech; make {thing} talk in hushed whispers; "
        "let {thing} be spoken as a whisper",
        "in a whisper; in a [whispered|whispering|breathy] voice; whispering; under the breath; "
        "in whispers; whispering softly into the microphone; in a hushed whisper; as a whisper; "
        "now in a whispery voice; as if whispering to a friend; barely whispering",
        "whisper; whispers; whispering; whispered; in a whisper; whispered speech; whisper it; "
        "say it in a whisper; a whisper instead of a normal voice; whispering voice; "
        "hushed whisper; whispered words; whisperingly; speaks in a whisper; whispered voice; "
        "as whispers",
    ),
    "voiced": (
        "make {thing} stop whispering; turn the whisper of {thing} into a normal voice; "
        "{thing} should [speak|talk] normally [and not|instead of] whisper; "
        "[convert|change] whispered {thing} to [voiced|normal] speech; "
        "let {thing} speak [aloud|out loud] instead of whispering; "
        "give whispering {thing} a [normal|full|voiced] voice; {thing} should not whisper; "
        "have {thing} speak with a normal voice rather than a whisper; "
        "switch {thing} from whispering to normal speech; "
        "the whispering of {thing} should become ordinary speech; "
        "bring the voice back so that {thing} no longer whispers; "
        "could {thing} not whisper but talk normally; turn whispered {thing} into normal speech; "
        "make {thing} talk normally again, without whispering; reconstruct {thing} from a whisper",
        "in a [normal|full|voiced] voice; aloud instead of whispering; "
        "with voice and not in a whisper; no longer whispering; "
        "in an ordinary voice rather than a whisper; with a full voice, not whispered; "
        "now in a normal voice, no more whispering; as if never whispering",
        "normal voice; voiced; voiced speech; spoken normally; not whispered; out loud; "
        "no whisper; from a whisper to a normal voice; whisper to speech; "
        "turn the whisper into speech; speak up normally; a whisper no more; "
        "from whispered to normal; voiced instead of whispered; "
        "speaks normally, not in a whisper; whisper converted to speech; not whispering any more",
    ),
    "lively": (
        "make {thing} [sound|] [excited|angry|energetic|livelier|more lively|happy|enthusiastic]; "
        "{thing} should [be|sound] "
        "[more excited|angrier|more energetic|happier|furious|agitated]; make {thing} shout; "
        "let {thing} [shout|yell|scream]; "
        "change the emotion of {thing} to [anger|joy|excitement|happiness|fear|surprise]; "
        "add more [energy|excitement|emotion] to {thing}; give {thing} an [angry|excited] tone; "
        "have {thing} express [rage|delight]; I would like {thing} to be more animated; "
        "let {thing} speak with enthusiasm; make it sound like {thing} is thrilled; "
        "turn the mood of {thing} to angry; have {thing} yell at the top of the lungs; "
        "raise the energy of {thing}; could {thing} sound more enthusiastic; "
        "put some anger into {thing}; make {thing} come across as overjoyed; "
        "let {thing} be shouted; adjust the emotion of {thing} to happy; "
        "{thing} sounds bored, make it more lively",
        "[excitedly|angrily|happily|energetically|enthusiastically|cheerfully|furiously]; "
        "in an [excited|angry|agitated|energetic] [voice|tone|manner]; "
        "with [excitement|anger|joy]; shouting; while getting angry; with great enthusiasm; "
        "in a furious tone; sounding thrilled; in a cheerful mood; yelling at somebody; "
        "now in an angry voice; as if very excited; with a lot of energy and joy; "
        "sounding really angry; in a loud angry shout",
        "excited; angry; energetic; lively; happy; cheerful; shouting; shouts; yelling; yells; "
        "screaming; enthusiastic; angrily; excitedly; joyful; more expressive; frightened; "
        "from sad to happy; from calm to angry; from neutral to angry; change neutral to happy; "
        "animated; thrilled; enraged; with enthusiasm; more energetic; more excited; angrier; "
        "shouted; speaks angrily; happy voice; excited tone; emotion: anger; full of energy",
    ),
    "calm": (
        "make {thing} [sound|] [calm|calmer|sad|subdued|bored|neutral|relaxed|tired|monotone]; "
        "{thing} should [be|sound] [calmer|sadder|more relaxed|less excited|less angry|flatter]; "
        "calm {thing} down; let {thing} stop shouting; "
        "change the emotion of {thing} to [sadness|calmness|boredom|neutral]; "
        "take the [energy|excitement|anger] out of {thing}; give {thing} a [sad|calm] tone; "
        "have {thing} express [sorrow|serenity]; I would like {thing} to be more restrained; "
        "let {thing} speak without excitement; make it sound like {thing} is exhausted; "
        "turn the mood of {thing} to sad; soothe {thing}; lower the energy of {thing}; "
        "could {thing} sound more relaxed; put some sadness into {thing}; "
        "make {thing} come across as depressed; let {thing} be spoken calmly; "
        "adjust the emotion of {thing} to sad; {thing} sounds agitated, make it calmer",
        "[calmly|sadly|tiredly|wearily|gloomily]; with [calm|sadness|little energy]; "
        "in a [calm|sad|flat|subdued|bored|neutral|monotonous] [voice|tone|manner]; "
        "without any emotion; with great sorrow; in a soothing tone; sounding exhausted; "
        "in a gloomy mood; in an emotionless way; now in a sad voice; as if very tired; "
        "with hardly any energy; sounding really sad; in a peaceful calm tone",
        "calm; calmer; sad; subdued; flat; neutral; bored; tired; monotone; calmly; sadly; "
        "relaxed; without emotion; less excited; less energetic; depressed; serene; "
        "from happy to sad; from angry to calm; from angry to neutral; change happy to neutral; "
        "restrained; exhausted; gloomy; sorrowful; more relaxed; less lively; sadder; less angry; "
        "speaks sadly; calm voice; bored tone; emotion: sadness; without energy",
    ),
    "said": (
        "say {words} instead of {other words}; change the [word|words] {other words} to {words}; "
        "replace [|the word |the words ]{other words} [with|by] {words}; "
        "remove the [word|words] {words}; delete the [word|phrase] {words}; "
        "insert [|the word ]{words} [after|before] {other words}; let {thing} say {words}; "
        "{thing} should say {words}; make {thing} say {words}; "
        "add the words {words} at the [end|beginning]; swap the word {other words} for {words}; "
        "have {thing} say {words} in place of {other words}; take out the word {words}; "
        "put the word {words} before {other words}; edit the transcript so that it reads {words}; "
        "substitute {words} for the word {other words}; cut {words} out of the sentence; "
        "could {thing} say {words} instead; cross out {words} in what is said; "
        "the word {other words} should become {words}; make it {words} rather than {other words}; "
        "add {words} right after {other words}",
        "saying {words}; and says {words}; with the words {words}; who says {words}; "
        "speaking the words {words}; and utters {words}; uttering {words}; now saying {words}; "
        "telling us {words}; with {words} as the last words",
        "{words}; says {words}; saying {words}; say {words}; the word {words}; remove {words}; "
        "change what is said; change the words; remove the last word; repeat the first word; "
        "delete the filler words; insert a word; cut the first sentence; swap two words; "
        "say tomorrow instead of today; replace the word cat by dog; say hello at the start; "
        "remove the word really; change the sentence to a question; reword the sentence; "
        "remove the ums; translate the speech into English; correct the mispronounced word; "
        "insert the word not before the verb; change the name in the sentence; add a sentence; "
        "remove the stutter; change red to blue in the sentence; have him say goodbye; "
        "{words} instead of {other words}; the words {words}; "
        "have her say thank you in place of sorry; the spoken word Monday becomes Friday; "
        "take the word very out of the sentence; drop the second word; "
        "put in the word never before the last one; edit the spoken sentence; the phrase {words}; "
        "the speaker says winter in place of summer; leave out the word actually; "
        "exchange the word small for big; make the last word Friday instead of Monday; "
        "start with the words good evening",
    ),
}
