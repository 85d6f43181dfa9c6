"""More to fit on than `vocabulary` has: one frame of words for all changes of a kind.

A frame has a slot `{x}` for a word of a concept: `more` and `less` of a quantity, to `be` or `not`
be such, to `add` or `lose` something, to sound or act a certain way (`how`). A regression that saw
every word in every frame learns what the frames say, and which way.
"""

FRAMES: dict[str, str] = {
    "more": (
        "[increase|raise|boost|turn up|bring up|step up|push up|crank up|bump up|lift|heighten] "
        "the {x} [of|in|on] {thing}[| a bit| a lot| by {amount}]; "
        "[increase|raise|boost|turn up|bump up|push] {thing}'s {x}[| by {amount}]; "
        "give {thing} [more|a higher|a greater] {x}; "
        "[a little|a lot|much|] more {x} [on|for|in] {thing}; {thing} needs [more|a higher] {x}; "
        "there is too little {x} in {thing}; make the {x} of {thing} [higher|greater|bigger]; "
        "let {thing} have more {x}; move the {x} of {thing} up; "
        "turn the {x} [of|in] {thing} up[| by {amount}]; "
        "{c} with [more|a lot of|lots of|plenty of|increased|higher|much] {x}; "
        "with [more|a lot of|lots of|plenty of|increased|higher|raised|boosted|a higher] {x}; "
        "with the {x} [raised|boosted|increased|turned up]; "
        "[more|higher|greater|increased|raised] {x}; {x} up; {x} [increased|raised|boosted]; "
        "[increase|raise|boost] {x}; the {x} of {thing} is too low; too little {x}; "
        "[adjust|change|set|shift] the {x} of {thing} "
        "[upward|upwards|to a higher value][|, {amount}]; "
        "[get|work|bring|put] more {x} [into|in] {thing}; {x} [goes up|rises|grows]; "
        "the {x} of {thing} [should go|must go|goes|is to go] up[| by {amount}]"
    ),
    "less": (
        "[decrease|reduce|lower|turn down|bring down|drop|push down|cut|diminish|lessen|take "
        "down] the {x} [of|in|on] {thing}[| a bit| a lot| by {amount}]; "
        "[decrease|reduce|lower|turn down|cut|drop] {thing}'s {x}[| by {amount}]; "
        "give {thing} [less|a lower|a smaller] {x}; "
        "[a little|a lot|much|] less {x} [on|for|in] {thing}; {thing} needs [less|a lower] {x}; "
        "there is too much {x} in {thing}; make the {x} of {thing} [lower|smaller]; "
        "let {thing} have less {x}; move the {x} of {thing} down; "
        "turn the {x} [of|in] {thing} down[| by {amount}]; "
        "{c} with [less|little|hardly any|decreased|lower|reduced] {x}; "
        "with [less|little|hardly any|decreased|lower|reduced|lowered|a lower] {x}; "
        "[less|lower|smaller|decreased|reduced|fewer] {x}; {x} down; {x} [decreased|reduced|cut]; "
        "[decrease|reduce|lower|cut] {x}; the {x} of {thing} is too high; too much {x}; "
        "[adjust|change|set|shift] the {x} of {thing} "
        "[downward|downwards|to a lower value][|, {amount}]; "
        "with the {x} [cut|lowered|reduced|turned down]; {x} [removed|lowered]; "
        "[get|take|pull] some {x} [out of|off|away from] {thing}; {x} [goes down|falls|shrinks]; "
        "the {x} of {thing} [should go|must go|goes|is to go] down[| by {amount}]; "
        "minus some {x}; give the {x} of {thing} a [cut|reduction]"
    ),
    "be": (
        "make {thing} {x}; have {thing} [be|sound|become|turn] {x}; render {thing} {x}; "
        "{thing} [needs to|should|must|has to|ought to] [be|sound|become] {x}; "
        "I [want|would like|need] {thing} to [be|sound] {x}; let {thing} [be|sound|become] {x}; "
        "make {thing} [much|a lot|a bit|a little|slightly|clearly] {x}; turn {thing} {x}; "
        "edit {thing} so that it [is|sounds] {x}; {c}, {x}; {c} sounding {x}; {c} and sounds {x}; "
        "{x} sound; {x}; sounding {x}; sounds {x}; [much|clearly|a bit] {x}; "
        "it [should be|sounds] {x}; with a {x} sound; in a {x} way; {x} {plain}; "
        "{c} in a {x} way; change {thing} to be {x}; {thing} is not {x} enough; "
        "from something else to {x}; get {thing} [to be|to sound|] {x}; {c} but {x}; but {x}; "
        "a {x} version[| of {thing}]; in a [very |more |]{x} [manner|style|fashion|tone]; "
        "{c} in a {x} [manner|style|tone]; so {x} that one notices; becomes {x}; "
        "[becoming|turning] {x}; {x} and not as before; give {thing} a {x} [sound|tone|touch]; "
        "change the sound of {thing} to a {x} one"
    ),
    "not": (
        "make {thing} less {x}; have {thing} [sound|be] less {x}; {thing} is too {x}; "
        "{thing} [needs to|should|must] [be|sound] less {x}; {thing} should not be so {x}; "
        "I [want|would like] {thing} to be less {x}; let {thing} not [be|sound] {x}; "
        "{c} sounding less {x}; {c}, not so {x}; less {x}; not so {x}; not {x}; no longer {x}; "
        "less {x} {plain}; make {thing} [much|a lot|a bit|a little] less {x}; in a less {x} way; "
        "not as {x} as before; too {x}; make {thing} not {x}"
    ),
    "add": (
        "add [|more |some |a bit of |a touch of |plenty of ]{x} [to|on|in] {thing}; "
        "[put|use|apply|lay|mix|introduce] [|some |more ]{x} [on|to|into|over] {thing}; "
        "give {thing} [|some |more ]{x}; I [want|would like|need] [|some |more ]{x} on {thing}; "
        "have {thing} with {x}; {thing} [needs|should have|should get] [|some |more ]{x}; "
        "edit {thing} to have {x}; process {thing} with {x}; run {thing} through {x}; "
        "{c} with [|added |some |strong |heavy |audible |clear ]{x}; "
        "with [|added |some |strong |heavy |audible |clear |a lot of |plenty of ]{x}; {x}; "
        "[more|added|strong|heavy|audible|some] {x}; {x} added; add {x}; apply {x}; "
        "{x} on {thing}; {plain} with {x}; insert {x} on {thing}; increase the {x} of {thing}; "
        "[get|work|bring] [|some |more ]{x} [into|onto|on] {thing}; plus {x}; {c} plus {x}; "
        "[send|feed|pass|push] {thing} through {x}; [cover|fill|enrich|treat] {thing} with {x}; "
        "{c} but with {x}; but with {x}; {c} through {x}; through {x}; a version with {x}; "
        "give {thing} the sound of {x}; there should be {x} on {thing}"
    ),
    "lose": (
        "[remove|strip|take|eliminate|suppress|erase|delete|filter|cut] "
        "[|all |the |the {x} and ]{x} [from|out of|off] {thing}; "
        "[remove|reduce|cut|suppress|eliminate|lower|decrease] the {x} [in|of|on] {thing}; "
        "get rid of [|the |all ]{x} [in|on|of] {thing}; "
        "[remove|reduce|suppress|eliminate|take away|filter out|clean up] [|the |any |all ]{x}; "
        "clean {thing} of [|its ]{x}; free {thing} [of|from] {x}; let {thing} be without {x}; "
        "{c} [without|free of|with less|with no|with hardly any] [|any |audible ]{x}; "
        "[without|free of|free from|with less|with no|with hardly any] [|any |audible ]{x}; "
        "[no|less|no more|hardly any|reduced] {x}; "
        "{x} [removed|gone|reduced|suppressed|taken out]; {plain} without {x}; "
        "there is too much {x} on {thing}; {thing} should have [less|no] {x}; "
        "I [want|would like] [less|no] {x} on {thing}; stop the {x} of {thing}; "
        "[get|take|wipe|wash|scrub|pull] [the|all the] {x} [out of|off|away from] {thing}; "
        "{c} but without {x}; but [without|with less|with no] {x}; minus the {x}; "
        "a version without {x}; [kill|fix|undo|silence|scrub] the {x} of {thing}; "
        "there should be no {x} on {thing}; clear {thing} of {x}"
    ),
    "how": (
        "have {thing} sound {x}; let {thing} [sound|be heard|play|speak|come] {x}; "
        "make {thing} sound [|like it is |as if it were |as if ]{x}; "
        "{thing} should [sound|be heard|be|play|speak] {x}; {c} {x}; {c}, {x}; {x}; "
        "[place|put|move|perform|render|repeat] {thing} {x}; I want to hear {thing} {x}; "
        "change {thing} so that it sounds {x}; make it sound like {thing} is {x}; as if {x}; "
        "{plain} {x}; sounding as if {x}; now {x}; {c} but {x}; but {x}; "
        "a version of {thing} {x}; get {thing} to sound {x}; [somewhere|all] {x}; "
        "imagine {thing} {x}; have {thing} {x}"
    ),
}

LINKS = (", ", " so ", " and ", "; ", ". ", ", please ", " - ", ", just ", " because ")
"""What stands between two parts that ask for the same: "the dog is too quiet, make it louder"."""
