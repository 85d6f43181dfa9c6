"""Wordings to fit on, of pitch, speed, level and events; `vocabulary` says how they are read.

By change: instructions; what follows a clause in a caption; and what is recognised but never made:
words that differ between two captions, and wordings with a strength of their own.
"""

PHRASES: dict[str, tuple[str, str, str]] = {
    "pitch_up": (
        "[raise|increase|shift up|lift] the pitch of {thing}[| a bit| slightly| by {amount}]; "
        "make {thing} [higher|higher pitched|higher in pitch|sound higher][| by {amount}]; "
        "pitch {thing} up[| a little| by {amount}]; transpose {thing} up[| by {amount}]; "
        "shift {thing} up by {amount}; {thing} should [be|sound] higher[| in pitch]; "
        "give {thing} a higher [voice|pitch|tone]; tune {thing} {amount} [up|higher]; "
        "change the pitch of {thing} to [a higher one|be higher]; set {thing} in a higher key; "
        "bring the pitch of {thing} up[| by {amount}]; move {thing} to a higher register; "
        "{thing} needs a higher pitch; make the pitch of {thing} {amount} higher; "
        "bump the pitch of {thing}[| by {amount}]; have {thing} come out higher in tone; "
        "pitch-shift {thing} upwards[| by {amount}]; "
        "could we have {thing} at a higher note[|, say {amount} up]; take {thing} up in key; "
        "{thing} sounds too deep, raise its pitch; make {thing} sing in a higher octave; "
        "adjust the pitch of {thing} upward[|, {amount}]; pitch {thing} higher",
        "in a [higher|high|high-pitched|squeaky] [voice|tone]; at a [higher|high] pitch; "
        "with a [higher|raised] pitch; {amount} higher; [higher|high] in pitch; in a higher key; "
        "pitched up[| by {amount}]; with an upward pitch shift; in a shrill high register; "
        "at a pitch above the normal one; up in a much higher pitch; in a high, thin voice; "
        "with the pitch raised[| by {amount}]; at a noticeably higher pitch",
        "high; higher; high pitched; higher pitch; pitch up; higher voice; squeaky; shrill; "
        "an octave up; an octave higher; make {thing} sound like a chipmunk; in a squeaky voice; "
        "up {amount}; pitch shifted up; move {thing} an octave up; raise {thing} by {amount}; "
        "upward pitch shift; high register; transposed up; raise pitch; raised in pitch; "
        "higher tone; pitched higher; high-pitched voice",
    ),
    "pitch_down": (
        "[lower|reduce|decrease|drop|shift down] the pitch of {thing}[| a bit| slightly| by "
        "{amount}]; "
        "make {thing} [lower|lower pitched|lower in pitch|deeper|sound deeper][| by {amount}]; "
        "pitch {thing} down[| a little| by {amount}]; transpose {thing} down[| by {amount}]; "
        "shift {thing} down by {amount}; {thing} should [be|sound] [lower|deeper][| in pitch]; "
        "give {thing} a [lower|deeper] [voice|pitch|tone]; tune {thing} {amount} [down|lower]; "
        "change the pitch of {thing} to [a lower one|be lower]; set {thing} in a lower key; "
        "bring the pitch of {thing} down[| by {amount}]; move {thing} to a lower register; "
        "{thing} needs a lower pitch; make the pitch of {thing} {amount} lower; "
        "pull the pitch of {thing} down[| by {amount}]; have {thing} come out deeper in tone; "
        "pitch-shift {thing} downwards[| by {amount}]; "
        "could we have {thing} at a lower note[|, say {amount} down]; take {thing} down in key; "
        "{thing} sounds too shrill, lower its pitch; make {thing} sing in a lower octave; "
        "adjust the pitch of {thing} downward[|, {amount}]; pitch {thing} lower",
        "in a [lower|low|low-pitched|deep|deeper] [voice|tone]; at a [lower|low] pitch; "
        "with a [lower|lowered] pitch; {amount} lower; [lower|low] in pitch; in a lower key; "
        "pitched down[| by {amount}]; with a downward pitch shift; in a deep low register; "
        "at a pitch below the normal one; down in a much lower pitch; in a deep, dark voice; "
        "with the pitch lowered[| by {amount}]; at a noticeably lower pitch",
        "low; lower; low pitched; lower pitch; pitch down; deeper; deep voice; lower voice; "
        "an octave down; an octave lower; make {thing} sound like a giant; in a deep voice; "
        "down {amount}; pitch shifted down; move {thing} an octave down; "
        "lower {thing} by {amount}; downward pitch shift; low register; transposed down; "
        "lower the pitch; lowered in pitch; lower tone; pitched lower; low-pitched voice",
    ),
    "faster": (
        "[speed up|accelerate|hurry up] {thing}[| a bit| by {amount}]; "
        "speed {thing} up[| slightly| by {amount}]; make {thing} [faster|quicker][| by {amount}]; "
        "[play|run|repeat] {thing} [faster|more quickly|at a faster speed]; "
        "[increase|raise] the [speed|tempo|pace|rate] of {thing}[| by {amount}]; "
        "{thing} should [be|go|sound] [faster|quicker]; let {thing} be {amount} faster; "
        "make {thing} [speak|talk|move|play|go] [faster|more quickly]; "
        "make the tempo of {thing} higher; boost the speed of {thing}[| by {amount}]; "
        "{thing} is too slow, play it faster; quicken {thing}[| by {amount}]; "
        "have {thing} run at a quicker pace; pick up the pace of {thing}; "
        "compress {thing} in time so that it plays quicker; let {thing} go by more rapidly; "
        "could {thing} go a bit faster; set the playback rate of {thing} higher; "
        "{thing} drags, so speed it up[| by {amount}]; get {thing} over with in less time; "
        "adjust the tempo of {thing} upward[|, {amount}]; rush {thing}; make {thing} faster paced",
        "[quickly|fast|faster|rapidly|hastily]; at a [faster|fast|high|quick] [speed|pace|tempo]; "
        "[more|very] quickly; in a hurry; {amount} faster; at an increased speed; "
        "at a brisk pace; in rapid succession; at a quicker rate; {amount} quicker; "
        "with an accelerated tempo; at nearly twice the speed; noticeably faster; "
        "with a faster tempo; at an ever faster pace",
        "fast; faster; quick; quicker; quickly; rapid; rapidly; speed up; sped up; hurried; "
        "double the speed of {thing}; play {thing} at [double|twice the|1.5x] speed; "
        "twice as fast; make {thing} [half as long|shorter in time|twice as fast]; 2x speed; "
        "fast tempo; accelerated; brisk; speedy; at high speed; quickened; much faster; "
        "faster pace; high tempo; more rapidly; quick speech rate; speeded up",
    ),
    "slower": (
        "[slow down|decelerate] {thing}[| a bit| by {amount}]; "
        "slow {thing} down[| slightly| by {amount}]; "
        "make {thing} [slower|less fast][| by {amount}]; "
        "[play|run|repeat] {thing} [slower|more slowly|at a slower speed]; "
        "[decrease|reduce|lower] the [speed|tempo|pace|rate] of {thing}[| by {amount}]; "
        "{thing} should [be|go|sound] slower; let {thing} be {amount} slower; "
        "make {thing} [speak|talk|move|play|go] [slower|more slowly]; "
        "stretch {thing} out in time; make the tempo of {thing} lower; "
        "cut the speed of {thing}[| by {amount}]; {thing} is too fast, play it slower; "
        "have {thing} run at a gentler pace; bring the pace of {thing} down; "
        "stretch {thing} in time so that it takes longer; let {thing} go by less quickly; "
        "drag {thing} out[| by {amount}]; could {thing} go a bit slower; "
        "set the playback rate of {thing} lower; {thing} rushes, so slow it down[| by {amount}]; "
        "let {thing} take more time; adjust the tempo of {thing} downward[|, {amount}]; "
        "make {thing} slower paced",
        "[slowly|slow|slower|unhurriedly]; at a [slower|slow|low|leisurely] [speed|pace|tempo]; "
        "[more|very] slowly; taking its time; {amount} slower; at a reduced speed; "
        "at an unhurried pace; with long pauses and a slow tempo; at a slower rate; "
        "{amount} less fast; with a decelerated tempo; at barely half the speed; "
        "noticeably slower; with a slower tempo; at an ever slower pace",
        "slow; slower; slowly; slow down; slowed down; sluggish; drawn out; lengthened; "
        "halve the speed of {thing}; play {thing} at half [speed|the speed]; half as fast; "
        "make {thing} [twice as long|longer in time|half as fast]; slow motion; slow tempo; "
        "decelerated; leisurely; at low speed; time-stretched; much slower; dragging; "
        "slower pace; low tempo; less rapidly; slow speech rate; slowing down",
    ),
    "louder": (
        "[raise|increase|turn up|boost] the "
        "[volume|loudness|level] of {thing}[| a bit| by {amount}]; "
        "make {thing} louder[| by {amount}]; turn {thing} up[| a little| by {amount}]; "
        "[amplify|boost] {thing}[| by {amount}]; {thing} should be louder; "
        "make {thing} {amount} louder; make {thing} [stronger|more audible]; "
        "add [|{amount} of ]gain to {thing}; bring up the level of {thing}; "
        "crank up the volume of {thing}; give {thing} more volume[|, {amount} more]; "
        "lift the loudness of {thing}[| by {amount}]; {thing} is too quiet, raise it; "
        "have {thing} play at a greater volume; pump up {thing}[| by {amount}]; "
        "increase the gain on {thing}[| by {amount}]; could {thing} be a bit louder; "
        "bring {thing} up in the mix[| by {amount}]; I can hardly hear {thing}, make it louder; "
        "adjust the volume of {thing} upward[|, {amount}]; raise {thing} in volume; "
        "set {thing} to a louder level",
        "[loudly|loud|louder|noisily|more loudly]; at a [higher|high|loud] volume; "
        "{amount} louder; with more volume; in a loud voice; at full volume; very loudly; "
        "at a greater volume; at the top of its volume; with increased loudness; "
        "{amount} more loudly; noticeably louder; with the volume raised[| by {amount}]; "
        "at a considerable volume; ever more loudly",
        "loud; louder; loudly; turn up; volume up; amplified; higher volume; more volume; "
        "twice as loud; double the volume of {thing}; raise {thing} by 6 dB; blaring; gain up; "
        "increased volume; turn it up; much louder; at high volume; increase volume; "
        "loudness increased; with more gain; raised in volume; louder level; loud voice; "
        "volume boosted",
    ),
    "softer": (
        "[lower|reduce|decrease|turn down|cut] the "
        "[volume|loudness|level] of {thing}[| a bit| by {amount}]; "
        "make {thing} [quieter|softer|less loud][| by {amount}]; "
        "turn {thing} down[| a little| by {amount}]; attenuate {thing}[| by {amount}]; "
        "{thing} should be [quieter|softer|less loud]; make {thing} {amount} quieter; "
        "make {thing} [weaker|less audible]; [take|cut] {amount} off {thing}; "
        "bring down the level of {thing}; push {thing} into the background; "
        "dial down the volume of {thing}; give {thing} less volume[|, {amount} less]; "
        "drop the loudness of {thing}[| by {amount}]; {thing} is too loud, turn it lower; "
        "have {thing} play at a smaller volume; quieten {thing}[| by {amount}]; "
        "decrease the gain on {thing}[| by {amount}]; could {thing} be a bit quieter; "
        "bring {thing} down in the mix[| by {amount}]; {thing} hurts my ears, make it quieter; "
        "adjust the volume of {thing} downward[|, {amount}]; lower {thing} in volume; "
        "set {thing} to a softer level",
        "[quietly|softly|quiet|softer|quieter|more quietly|faintly]; "
        "at a [lower|low|soft|quiet] volume; {amount} quieter; with less volume; "
        "in a [soft|quiet] voice; barely audible; very quietly; at a smaller volume; "
        "at a hushed level; with decreased loudness; {amount} less loudly; noticeably quieter; "
        "with the volume lowered[| by {amount}]; at a modest volume; ever more quietly",
        "quiet; quieter; quietly; soft; softer; softly; turn down; volume down; attenuated; "
        "faint; lower volume; less volume; half as loud; halve the volume of {thing}; "
        "lower {thing} by 6 dB; less loud; not so loud; gain down; reduced volume; turn it down; "
        "much quieter; at low volume; decrease volume; loudness reduced; hushed; with less gain; "
        "lowered in volume; softer level; quiet voice; volume cut",
    ),
    "event": (
        "[add|insert|mix in|overlay|put in|include] "
        "[|the sound of ]{sound}[| at the end| in the background| in the middle| at the "
        "beginning]; "
        "[remove|delete|take out|get rid of|erase|cut|drop|mute] [|the sound of ]{sound}; "
        "replace {sound} [with|by] {other sound}; [change|turn] {sound} into {other sound}; "
        "swap {sound} for {other sound}; substitute {other sound} for {sound}; "
        "there should be {sound}; I want to hear {sound}; keep only {sound}; isolate {sound}; "
        "remove everything but {sound}; instead of {sound} there should be {other sound}; "
        "play {sound} after {other sound}; extract {sound}; let {sound} come in later; "
        "repeat {sound} twice; {sound} should be gone; introduce {sound} in the recording; "
        "bring in {sound}; strip out {sound}; make {sound} disappear; "
        "exchange {sound} for {other sound}; have {sound} in place of {other sound}; "
        "superimpose {sound} on the audio; eliminate {sound} from the audio; "
        "put {sound} between the two other sounds; let us hear {sound} too; "
        "filter {sound} out of the recording; could we have {sound} as well; put {sound} over it; "
        "let {sound} go silent; I don't want to hear {sound}; trade {sound} for {other sound}; "
        "{other sound} should be heard in place of {sound}; layer {sound} under it; "
        "silence {sound}; throw in {sound} near the end",
        "while {sound} is heard; with {sound}; and {sound}; followed by {sound}; before {sound}; "
        "with {sound} in the background; along with {sound}; and then {sound}; without {sound}; "
        "as {sound} is heard; together with {sound}; over {sound}; accompanied by {sound}; "
        "as well as {sound}; and after that {sound}; now with {sound}; while you hear {sound}; "
        "until {sound} can be heard; next to {sound}; without the sound of {sound}",
        "{sound}; {sound} and {other sound}; {qualified}; with {sound}; and {sound}; "
        "[add|insert|overlay] [|the sound of ]{qualified}; "
        "[remove|delete|erase|mute] {qualified}; replace {qualified} with {other sound}; "
        "replace {sound} with {qualified}; followed by {qualified}; "
        "with {qualified} in the background; with {qualified}; in the background; at the end; "
        "then; background; {sound} [once|twice|three times]; add {sound} rising in pitch; "
        "add {sound} getting [louder|faster|quieter]; add {sound} [speeding|passing] by; "
        "another {sound}; fewer of {sound}; no {sound}; {sound} stops; "
        "remove [the speech|the voice|the vocals|the speaker|the man]; "
        "add a [voice|man speaking|woman speaking|speaker|whisper|shout]; a person speaks; "
        "change the instrument to {sound}; use {sound} instead of {other sound}; "
        "{other sound} and {sound}; introduce {qualified}; eliminate {qualified}; "
        "exchange {qualified} for {other sound}; accompanied by {qualified}; "
        "bring in {sound} whose pitch goes up; {sound} for a short while; "
        "strip out {sound} in the second half; {sound} then {other sound}; "
        "put {qualified} over it; I don't want to hear {qualified}; {sound} throughout; "
        "trade {qualified} for {other sound}; a second time {sound}; next to {qualified}",
    ),
}
