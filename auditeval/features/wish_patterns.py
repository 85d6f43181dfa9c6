"""Patterns of wishes: where a text names what is to come, `new`, and what is to go, `gone`."""

from __future__ import annotations

import re

from auditeval.features.kept import ALL, BUT

_I = r"(?:i|we)(?:'d| would|'m| am| do)?(?: (?:really|just|also|rather|now))*"
_WANT = rf"{_I} (?:like|love|want|wish(?: for)?|need|prefer|wanna|fancy|looking for)(?: also)?"
_HAVE = r"(?: to (?:also )?(?:hear|have|listen to))?"
_NOT_WANT = (
    r"(?:i|we)(?: really| just)? (?:do not|don't|no longer|never)(?: really| ever)? "
    r"(?:want|need|like|wish)(?: to (?:hear|have|listen to))?|"
    rf"{_I} (?:like not to|not) (?:hear|have)|(?:i|we) (?:can't|cannot) (?:stand|bear)|"
    r"(?:do not|don't|never) (?:keep|retain|preserve|include)|"
    r"(?:i|we) (?:can|could) do without|enough (?:of|with)"
)
_MUST = r"(?:should|must|has to|have to|needs? to|ought to|shall|(?:is|are)(?: supposed)? to)"
_CAN = r"(?:can|could|may|might|should|shall)"
_WE = rf"{_CAN}(?:n't)? (?:we|i)(?: (?:also|please|maybe|just))*"
_IT = r"(?:it|this|that|same|clip|recording|audio|track|version|scene)"
_INSTEAD = r"(?:instead of|in place of|in lieu of|rather than)"
_ADDED = (
    r"(?:add|insert|includ|introduc|overlai|overlay|layer|superimpos|mix|blend|splic|heard|audible|"
    r"present)(?:ed|d)?(?: in)?"
)
_TAKEN = (
    r"(?:(?:remov|delet|eras|eliminat|suppress|silenc|mut|dropp|kill|exclud|omitt|discard|"
    r"cancel|cancell)ed|(?:taken|cut|filtered|left|edited|stripped) (?:out|away)|cut|gone|"
    r"got rid of|gotten rid of)"
)
_SWAPPED = r"(?:replac|swapp|exchang|substitut|trad|switch|turn|chang|convert|transform)ed(?: out)?"
_DEPART = (
    rf"(?:(?:be |to be |being )?{_TAKEN}|(?:to )?(?:go|disappear|vanish|stop|cease)|"
    r"(?:to )?(?:go (?:away|silent)|fall silent|drop out)|out)"
    r"(?=$|[,;:.!?]| (?:from|and|in the|half ?way|mid ?way)\b)"
)
_MIX_IN = (
    r"(?:sprinkle|superimpose|splice|blend|weave|work|slip|throw|toss|paste|dub|fold|pipe|drop|"
    r"bring|put|mix|patch|fade|stick)"
)
_PUT = (
    r"(?:superimpos(?:e|ing)|plac(?:e|ing)|(?:ap|pre)pend(?:ing)?|embed(?:ding)?|"
    r"incorporat(?:e|ing)|inject(?:ing)?|trigger(?:ing)?|cu(?:e|ing)|set(?:ting)? off|"
    r"imagine(?= (?:an?|some)\b)|generat(?:e|ing)|creat(?:e|ing)|synthesi[sz](?:e|ing)|"
    r"produc(?:e|ing)|simulat(?:e|ing)|"
    r"(?:sprinkl(?:e|ing)|blend(?:ing)?|stack(?:ing)?)(?: in)?|give (?:me|us)|"
    r"(?:splice|weave|work|slip|throw|toss|paste|dub|fold|pipe|drop|stick|patch|fade|write|slide|"
    r"swap|sub) in)"
)
_DROP = (
    r"(?:kill(?:ing)?|nuk(?:e|ing)|(?:hush|shush)(?:ing)?|"
    r"los(?:e|ing)|hid(?:e|ing)|ditch(?:ing)?|discard(?:ing)?|omit(?:ting)?|exclud(?:e|ing)|"
    r"cancel(?:l?ing)?(?: out)?|subtract(?:ing)?|purg(?:e|ing)|stop(?:ping)?|scrap|axe|dump|"
    r"(?:clean|clear|wipe|scrub|edit|block|tune|weed|rub|throw|blank)(?:n?ing)? out|"
    r"(?:zero|fade|gate|swap|sub)(?:[dpb]?ing)? out|"
    r"(?:clear|scrub|wipe|clean)(?:ing)?(?= .+ from\b)|"
    r"(?:do|doing) away with|(?:turn|switch|shut)(?:t?ing)? off)"
)
_COVER = (
    r"(?:overdub(?:b?ing)?|supplant(?:ing)?|mask(?:ing)?|overwrit(?:e|ing)|"
    r"cover(?:ing)?(?: up)?|drown(?:ing)?(?: out)?)"
)
_ENRICH = (
    r"(?:enhanc|enrich|supplement|augment|complement|populat|embellish|underscor|combin|accompan|"
    r"decorat|underlin|underpin|punctuat|follow|preced|top|round|spice|liven|back|pad)"
    r"(?:e|y|p?ing|ying|ing)?"
)
_OPEN = r"(?:start|begin|open|end|finish|close|conclude)(?:n?ing)?(?: off)?"
_WHOLE = r"(?:it|this|(?:the|this|my) (?:clip|recording|audio|scene|track|mix|file|soundtrack))"
_SO_THAT = r"\b(?:in which|where|so(?: that)?|such that|with)"
_IS = r"(?:is|are|was|were|has been|have been|gets?)"
_KIND = (
    r"(?:background|foreground|backdrop|animal|bird|instrument|vehicle|weather|scene|setting|"
    r"ambi[ae]nce|sound|noise|event|source)"
)
_KNOWN_ONE = (
    r"(?:an?|the|this|that|these|those|my|his|her|its|our|their|your|some|another|it|him|them|me|"
    r"us|you|everyone|everybody|everything|all|both|each|more|less|no|only|there|be|\w+'s)"
)
_NO_NEW = (
    r"[^,;:.!?]*\b(?:(?:cross-?)?fad(?:e|es|ing)|transition|pauses?|silence|boost|beat of|"
    r"crescendo)\b"
)
_BEGIN = (
    r"(?:^|[,;:.!?–—-]\s*|\b(?:and|but|then|so|also|now|just|please|to|you|let's|lets|let us|we|"
    r"about|mind|of|by|me|not)\s)\s*"
)
"""Where something is asked for, for what begins with a verb."""
_CLAUSE = r"(?:^|[,;:.!?–—]\s*|\b(?:and|but|then|so)\s)\s*"
_THING = r"[^,;:.!?]{2,80}?"
_END = r"(?=$|[,;:.!?])"
_SAID = (
    r"(?:(?!\b(?:not|never|no|be|been|should|must|want|have|had|like|need|let|get|if|when|once|"
    r"with|all|every\w*)\b)[^,;:.!?]){2,80}?"
)
"""What is said of a sound, not wished."""
_VERB = r"(?:let|make|have|give|get|keep|there|i|we|you|it|he|she|they)\b"
_ONE = r"(?=(?:an?|the|some|another)\b)"
_THERE = r"(?=$|[,;:.!?]| (?:in(?! place)|at|near|over|on|onto|to|into|from)\b)"
_SURE = r"\b(?:make (?:it )?(?:sure|certain)|ensure|see to it)(?: that)? there(?:'s| is| are| be)"
_NUISANCE = (
    r"(?:nois(?:es?|iness)|hum\w*|hiss\w*|static|buzz\w*|crackl\w*|clicks?|pops|rumbl\w*|chatter|"
    r"interference|background|mess)"
)
_WHEN = r"(?:at|over|from|during|after|before|by|in|within)\b"
_NEW, _GONE = (rf"(?P<{side}>(?!{_WHEN}){_THING}){_END}" for side in ("new", "gone"))
_PART = r"(?:part|line|melody|role|solo|place)"
_PLACE = r"(?:put|use|play|place|have|let there be)"
_FEW = r"(?:bit|little|lot|tad|touch|notch|shade|whole|hint|great|good|whisper)"
_NO_NOUN = (  # before what has no verb, or is no sound: "a few seconds", "a voice that is old"
    r"(?:few|couple|lot|bit|pair|number|little|more|less|that|which|who|whose|with|without|for|"
    r"from|in|on|as|and|to|instead|than|or)"
)
_COMPLAINT = r"\b(?:too|needs?|keeps|remains|(?:bother|annoy|ruin|disturb|distract|spoil)\w*)\b"
_TAKE_IT = (
    r"(?:(?:can|could|would|will) you )?"
    r"(?:make (?:it|him|her|them|that) stop|"
    r"(?:remove|delete|erase|mute|silence|drop|cut|lose|nuke|kill|ditch|scrub|get rid of|"
    r"take out|filter out) (?:it|that|them|this)|"
    r"(?:take|get) (?:it|that|them) (?:out|away|off)|"
    r"i (?:do not|don't) (?:want|need) (?:it|that|them))\b"
)
_FIND = r"(?:find|locate|identify|detect|select|spot|take|pick(?: out)?)"
_SOUNDED = (
    r"(?:ring|honk|toot|blow|fire|shoot|slam|break|smash|shatter|strike|bang|pop|crash|strum|rev)"
)
_VERB_ALONE = (
    r"[^\W\d_]+(?=(?: \w+ly)? (?:in|at|near|over|after|before|by|from|then|once|twice|throughout|"
    r"half ?way|mid ?way|somewhere|around|during|behind|under|on|out|off|outside|"
    r"nearby)\b|$|[,;:.!?])"
)
WISHES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # One sound for another.
        rf"{_CLAUSE}(?P<gone>{_THING}) (?:(?:{_MUST}|to) be|{_IS}) {_SWAPPED} "
        rf"(?:with|by|for|to|into) {_NEW}",
        rf"{_CLAUSE}{_CAN} (?P<gone>{_THING}) (?:please )?be {_SWAPPED} "
        rf"(?:with|by|for|to|into) {_NEW}",
        rf"{_CLAUSE}(?:what if )?{_INSTEAD} (?P<gone>{_THING})(?:, ?| )"
        rf"(?:{_WANT}{_HAVE}|there {_MUST} be|(?:let )?there be|(?:(?:i|we) had|put|use|have|play|"
        rf"let me hear|give me|add|insert)(?: in)?) {_NEW}",
        rf"{_CLAUSE}{_INSTEAD} (?P<gone>{_THING}),\s*(?!\s|{_VERB}){_NEW}",
        rf"{_BEGIN}(?:trad(?:e|ing)|switch(?:ing)?|(?:trade|switch) out) "
        rf"(?P<gone>{_THING}) (?:for|with|to) {_NEW}",
        rf"{_BEGIN}(?:let|have|make) (?P<gone>{_THING}) (?:become|turn into|into) {_ONE}{_NEW}",
        rf"(?:{_BEGIN}let|{_CLAUSE}) ?(?P<gone>the {_THING}) (?:{_MUST} )?be "
        rf"(?P<new>an? (?!{_FEW}\b){_THING}){_END}",
        rf"{_BEGIN}(?:let|have|get) (?P<gone>{_THING}) (?:be )?{_SWAPPED} (?:with|by|for) {_NEW}",
        rf"{_CLAUSE}(?P<gone>{_THING}) (?:{_MUST} )?(?:gives? way to|makes? way for) {_NEW}",
        rf"{_BEGIN}(?:swap|exchange)(?:p?ing)? (?P<gone>{_THING}) against {_NEW}",
        rf"^not (?P<gone>{_THING}),? but {_NEW}",
        r"^(?P<there>\w+(?: \w+)?) (?:to|into) (?P<new>\w+(?: \w+)?)[.!]*$",
        rf"{_BEGIN}(?:re-?)?(?:orchestrat|arrang)(?:e|ing)? (?P<gone>the {_THING}) for {_NEW}",
        rf"{_BEGIN}play(?:ing)? (?P<gone>the {_THING})(?:'s)? {_PART} on {_NEW}",
        rf"{_BEGIN}{_COVER} (?P<gone>{_THING}) (?:with|by|using) {_NEW}",
        rf"{_BEGIN}(?:morph|modify|alter|reshape|mutate)(?:ing)? (?P<gone>{_THING}) into {_NEW}",
        rf"{_BEGIN}(?:edit|alter|chang|modify|revis|updat|switch|mak)(?:e|ing)? (?:the|this|my) "
        rf"{_KIND} from (?P<there>{_THING}) (?:in)?to {_NEW}",
        rf"{_BEGIN}(?:edit|alter|change|modify|make) (?P<gone>{_THING}) so (?:that )?it"
        rf"(?:'s| is| becomes)(?: now)? {_ONE}{_NEW}",
        rf"\b{_KIND} {_MUST} be (?P<new>{_THING}),? (?:and )?not {_GONE}",
        rf"{_CLAUSE}(?P<gone>{_THING}) (?:becomes|turns into|"
        rf"{_MUST} (?:become|turn into)) (?:{_ONE}|(?=\w+ing\b)){_NEW}",
        rf"(?:{_WANT}{_HAVE}|there {_MUST} be|{_WE} (?:have|hear)|use|have|play|make it|"
        rf"give me) (?P<new>{_THING}),? (?:{_INSTEAD}|and not) {_GONE}",
        rf"{_I} (?:prefer|hear|have) (?P<new>{_THING}) (?:than|to|over) {_GONE}",
        rf"{_CLAUSE}(?P<new>{_THING}) {_MUST} (?:replace|take the place of|stand in for) {_GONE}",
        rf"{_CLAUSE}{_CAN} (?P<new>{_THING}) (?:please )?(?:replace|take the place of) {_GONE}",
        rf"^(?:\w+: ?|(?:change|replace|swap|turn|substitute) )?(?P<gone>{_THING}) ?(?:->|=>|→|⇒) ?"
        rf"{_NEW}",
        rf"{_BEGIN}(?:let|have|make) (?P<gone>the {_THING}) turn into {_NEW}",
        rf"{_BEGIN}(?:let|have) (?P<new>{_THING}) (?:replace|take the place of|stand in for|"
        rf"take over from) {_GONE}",
        rf"{_BEGIN}(?:let|have) (?P<new>{_THING}) (?:play|do|take(?: over)?|sing) "
        rf"(?P<gone>the {_THING})(?:'s)? {_PART}{_END}",
        rf"{_BEGIN}giv(?:e|ing) (?P<gone>the {_THING})(?:'s)? {_PART} to {_NEW}",
        rf"(?:{_BEGIN}make|{_WANT}) (?P<gone>the (?!{_IT}\b)\w+(?: \w+)?)(?: to (?:be|become|"
        rf"turn into))? (?P<new>an? (?!{_FEW}\b){_THING}){_END}",
        rf"^(?P<new>(?:an? {_THING}|\w+)),? {_INSTEAD} {_GONE}",
        rf"{_SO_THAT} (?P<gone>{_THING}) {_IS} {_SWAPPED} (?:with|by|for|to|into) {_NEW}",
        rf"\breplacement of (?P<gone>{_THING}) (?:with|by) {_NEW}",
        rf"\bversion with (?P<new>{_THING}) and (?:no|without(?: the| any)?) {_GONE}",
        rf"{_CLAUSE}where (?:there (?:is|are|was|were) )?(?P<gone>{_THING})"
        rf"(?: (?:is|are|was|were))?, {_PLACE} {_NEW}",
        rf"^[-–−] ?(?P<there>\w+(?: \w+)?){_END}",
        rf"^[-–−] ?(?P<gone>[^\W\d_][^,;:.!?+]{{1,80}}?),? ?\+ ?{_NEW}",
        rf"^\+ ?(?P<new>[^\W\d_][^,;:.!?+]{{1,80}}?),? [-–−] ?{_GONE}",
        rf"^(?P<gone>\w+(?: \w+)?) (?:out|gone)[,.;]? (?:and )?(?P<new>\w+(?: \w+)?) in{_END}",
        rf"{_CLAUSE}{_FIND} (?P<gone>{_THING})(?:,? and|[,;.]) (?:then )?"
        rf"(?:replace|swap|substitute|exchange|turn) (?:it|that|them|this) "
        rf"(?:with|by|for|into) {_NEW}",
        # Away.
        rf"{_CLAUSE}(?:i (?:can |do |still )?hear|(?:can|do) you hear|there(?:'s| is| are)|"
        rf"i (?:do not|don't) like|separat(?:e|ing)(?: out)?|isolat(?:e|ing)|{_FIND}) "
        rf"(?P<gone>{_THING})(?:[,;.?]? (?:and|so|but)|[,;.?]|) (?:please )?{_TAKE_IT}",
        rf"^(?P<gone>the {_THING}) (?:is|are|sounds?|gets?|keeps?|bothers?|annoys?|disturbs?)\b"
        rf"[^,;.]*?[,;.]? (?:so |and |please )*{_TAKE_IT}",
        rf"\b(?:except|but|only)(?: that)? (?P<gone>{_THING}) (?:is|are) {_TAKEN}{_END}",
        rf"{_SO_THAT} (?P<gone>{_THING}) {_IS} {_TAKEN}{_END}",
        rf"^(?:there(?:'s| is| are) )?(?:too|so) (?:much|many) (?P<gone>{_THING})[,;.]? "
        rf"(?:so |and |please )*{_TAKE_IT}",
        rf"^(?P<gone>{_THING}) (?:is|are) (?:not (?:wanted|needed|required)|unwanted|unneeded)"
        rf"{_END}",
        rf"^(?P<gone>{_SAID}) (?:{_IS} )?(?:now )?(?:remov|delet|eras|eliminat)ed{_END}",
        rf"^(?P<new>{_SAID}) (?:{_IS} )?(?:now )?(?:add|insert|introduc|includ|overlai)e?d{_THERE}",
        rf"^(?P<gone>{_THING}) (?:removal|deletion|suppression|elimination){_END}",
        rf"^(?:\w+ yes, )?(?P<there>\w+(?: \w+)?) (?:gone|out|no){_END}",
        rf"^(?P<gone>the {_THING}) (?:stops?|ceases?)(?: \w+ing)?{_END}",
        rf"^(?:removal|deletion|suppression|elimination) of {_GONE}",
        rf"\bsame(?: \w+)?,? (?:but )?(?:minus|less) {_GONE}",
        rf"\b(?:better|nicer|great|good|nice|cleaner) without(?: any)? {_GONE}",
        rf"{_BEGIN}(?:rid|free|clear|cleanse|purify|clean)(?:ing)? {_WHOLE} (?:of|from) {_GONE}",
        # Of a voice or a recording that is how it should sound.
        rf"{_BEGIN}(?:clean|tidy)(?:ing)? up (?=[^,;:.!?]*\b{_NUISANCE}\b){_GONE}",
        rf"{_BEGIN}(?:take|bring|turn|fade|pull)(?:ing)? (?P<gone>{_THING}) (?:all the way )?"
        rf"(?:down )?to (?:nothing|zero|silence){_END}",
        rf"{_BEGIN}(?:attenuate|reduce|lower|suppress|quiet(?:en)?)(?:ing)? (?P<gone>{_THING}) "
        rf"(?:completely|entirely|fully|to (?:nothing|zero|silence)){_END}",
        rf"{_BEGIN}(?:make|have) it (?:stop|quit) (?P<gone>\w+ing){_END}",
        r"^(?P<gone>(?!\w+ing\b)\w+)(?<!turn)(?<!switch)(?<!shut)(?<!cut)(?<!fade)(?<!kick)(?<!take)(?<!back)"
        rf"(?<!show)(?<!well)(?<!far)(?<!hands) off{_END}",
        rf"(?:{_BEGIN}|\b{_WANT}(?: to)? )(?:(?:keep|leave|retain|preserve|hear|have|play|give me)"
        rf"(?:ing)? )?{ALL}(?: as (?:it is|they are))?,? {BUT} (?P<gone>{_THING})"
        rf"(?: {_MUST} (?:stay|remain|be (?:kept|left|heard|preserved|audible|there)))?{_END}",
        rf"{_CLAUSE}(?:{_NOT_WANT}|(?:do not|don't) (?:want|need)|can't stand)"
        rf"(?: any(?: more)?)? {_GONE}",
        rf"\bthere (?:{_MUST} not|(?:should|must)n't|(?:do|does)n't (?:need|have) to) be"
        rf"(?: any)? {_GONE}",
        rf"\b(?:there {_MUST} be|let there be|{_WANT}{_HAVE}) no (?:more )?{_GONE}",
        rf"\blet there not be(?: any)? {_GONE}",
        rf"^(?:no more|no|without|minus)(?: any)? {_GONE}",
        rf"[,;:.]\s*no (?P<there>{_THING}){_END}",
        rf"\b(?:{_IT}(?: again)?|sounds? like)(?:,? but)? (?:without(?: any)?|with no(?: more)?) "
        rf"{_GONE}",
        r"\b(?:give me|play|(?:have|hear|want|like|keep)(?: to (?:hear|have))?) "
        rf"[^,;:.!?]{{2,80}}?,? (?:but )?without(?: any)? {_GONE}",
        rf"{_SURE} no(?: more)? {_GONE}",
        rf"{_BEGIN}(?:make|have|get|let) (?P<gone>{_THING}) "
        rf"(?:stop|cease|quit|shut up)(?: \w+ing)?{_END}",
        rf"{_CLAUSE}(?P<gone>{_THING}) (?:(?:(?:should|must|can) ?(?:not|n't|no longer)) be "
        rf"(?:heard|audible|there|present)|(?:{_MUST}|can) {_DEPART})",
        rf"{_CLAUSE}{_CAN} (?P<gone>{_THING}) (?:please )?(?:be )?{_DEPART}",
        rf"(?:{_BEGIN}(?:let|have|make|get)|{_WANT}(?: to (?:have|see|get))?) "
        rf"(?P<gone>{_THING}) {_DEPART}",
        rf"{_BEGIN}(?:clean|clear|wipe|scrub|edit|block|tune|weed|rub|throw|blank) "
        rf"(?P<gone>{_THING}) out\b",
        rf"{_BEGIN}(?:turn|switch|shut) (?P<gone>{_THING}) off\b",
        rf"{_BEGIN}(?:take|strip) (?P<gone>(?!the edge\b){_THING}) off{_END}",
        rf"{_BEGIN}{_DROP} {_GONE}",
        rf"^(?P<gone>{_THING})\s*[,:;.–—-]+ ?(?:(?:can|could|would) you )?"
        r"(?:remove|delete|erase|mute|silence|drop|cut|get rid of|take out)"
        rf"(?: (?:it|that|them)\b|{_END})",
        # Here.
        rf"\bwhat if (?:there (?:was|were|is|are)|(?:we|you|i) (?:had|added|heard)) {_NEW}",
        rf"{_BEGIN}fill(?:ing)?(?: in| up)? (?:the|this) (?:gap|silence|pause|break)s? with {_NEW}",
        rf"{_CLAUSE}(?P<new>(?:an?|some|another) {_THING}|some(?:one|body)|people) "
        rf"(?:should|must|has to|needs to) "
        rf"(?!be\b|not\b|have\b|go\b|stop\b|sound\b)(?:(?:start|begin) (?:to )?)?"
        rf"(?P<does>{_VERB_ALONE})",
        rf"{_CLAUSE}{_CAN} (?P<new>(?:an?|some|another) (?:(?!be\b)\w+ ){{1,5}}?)(?:please )?"
        rf"(?!be\b|not\b|have\b|go\b|stop\b|sound\b)(?P<does>{_VERB_ALONE})",
        rf"{_BEGIN}(?:let|have) (?P<new>(?!{_KNOWN_ONE}\b)\w+ (?!\w*ly\b)\w+)"
        rf"(?= (?:in|at|near|right|after|before)\b|{_END})",
        rf"{_BEGIN}(?:let|make) it (?P<new>rain|thunder|snow|hail|storm)"
        rf"(?: (?:in|on|over|outside|at|during)\b[^,;:.!?]*)?{_END}",
        r"\bmake it (?:sound|seem) (?:like|as if|as though) (?:there(?:'s| is| are| was| were) "
        rf"(?P<new>{_THING}){_END}|it(?:'s| is| was| were) (?P<falls>raining|snowing|hailing))",
        rf"{_BEGIN}{_ENRICH} (?:{_THING} )?with (?!{_NO_NEW}){_NEW}",
        rf"{_CLAUSE}{_OPEN} (?:{_WHOLE} )?(?:with|on) (?!{_NO_NEW}){_NEW}",
        rf"^(?:i think )?(?P<new>(?:an?|some) {_THING}) would (?:help|fit|(?:be|make it) "
        rf"(?:nice|great|good|lovely|better|cool|perfect|wonderful|fun))\b",
        r"\b(?:better|nicer|great|good|nice|cool) with "
        rf"(?P<new>(?:an?|some|more) {_THING}){_END}",
        rf"\bsame(?: \w+)?,? (?:but )?plus {_NEW}",
        rf"^(?:addition|insertion|inclusion) of {_NEW}",
        rf"{_SO_THAT} (?P<new>(?:an?|some) {_THING}) {_IS} {_ADDED}{_THERE}",
        rf"^\+ ?(?P<new>[^\W\d_]{_THING}){_END}",
        rf"^(?!.*{_COMPLAINT})(?P<new>(?:(?:an?|another) (?:(?!{_NO_NOUN}\b)[a-z]+ ){{1,4}}?|"
        r"some(?:one|body) )(?!\w*[sui]s\b)[a-z]{2,}s(?: [^,;:.!?]*)?)[.!]*$",
        rf"\b{_WANT}{_HAVE} (?:there (?:was|were) )?{_NEW}",
        rf"^(?:could use|needs?) (?P<new>(?:an?|some) {_THING}){_END}",
        rf"{_CLAUSE}(?P<new>{_SOUNDED} (?:an?|some) {_THING}){_END}",
        rf"\b(?:i|we)(?:(?:'d| would) appreciate|(?:'re|'m| are| am) missing) {_NEW}",
        rf"\b(?:there {_MUST}(?: also)? be|let there(?: also)? be) {_NEW}",
        rf"\b(?:let (?:me|us)|let's|(?:i|we) {_MUST}|(?:i|we) can|you {_MUST}(?= hear))"
        rf"(?: also| now)? (?:hear|have) {_NEW}",
        rf"\b{_CAN}(?:n't)? there(?: please| also)? be {_NEW}",
        rf"{_SURE} (?!no\b|not\b|any\b){_NEW}",
        rf"{_BEGIN}(?:let|have) (?P<new>(?:an?|some(?:one|body)?|another) {_THING}){_END}",
        rf"\bsame(?: (?:thing|clip|recording|audio|scene))?(?:,? but)? with "
        rf"(?P<new>(?:an?|some|another) {_THING}){_END}",
        rf"\b(?:{_WE}|(?:is it|would it be) possible to|why not) (?:have|get|hear) {_NEW}",
        rf"{_CLAUSE}(?:how|what) about(?: (?:having|hearing))? {_NEW}",
        rf"\b(?:it|(?:this|the|my) (?:clip|recording|audio|scene|track|mix)) (?:needs|could use|"
        rf"lacks|is missing|should (?:have|contain|include)) {_NEW}",
        rf"{_CLAUSE}(?P<new>{_THING}) {_MUST} (?:also )?(?:be {_ADDED}|come in|set in){_THERE}",
        rf"{_CLAUSE}(?P<new>{_THING}) {_MUST} "
        r"(?:follow|precede|accompany|come (?:after|before)) the\b",
        rf"{_CLAUSE}{_CAN} (?P<new>{_THING}) (?:please )?be {_ADDED}{_THERE}",
        rf"{_BEGIN}{_MIX_IN} (?P<new>{_THING}) "
        r"(?:in|underneath|beneath|on top)(?=$|[,;:.!?]| (?:at|over|near|there)\b)",
        rf"{_BEGIN}{_PUT} {_NEW}",
    )
)
"""Of several that fit, the one that begins first counts. `there` goes if the caption names it;
`does` is what a person who comes does, `falls` weather."""
