"""Words for each class of sound that scenes are made of: clauses, things, names."""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    """`clauses` :: (subject, finite verb, participle); `names` stand by themselves."""

    clauses: tuple[tuple[str, str, str], ...]
    names: tuple[str, ...]


def _words(clauses: str, names: str) -> Words:
    parts = [clause.split("|") for clause in clauses.split("; ")]
    return Words(tuple((a, b, c) for a, b, c in parts), tuple(names.split("; ")))


# Names are of the kinds that captions have: nominal forms, and AudioSet's display names.
WORDS: dict[str, Words] = {
    "rain": _words(
        "rain|falls|falling; rain|patters on the ground|pattering on the ground; "
        "raindrops|fall heavily|falling heavily",
        "steady rainfall; a rain shower; rain",
    ),
    "wind": _words(
        "wind|blows|blowing; strong wind|howls|howling; a breeze|blows past|blowing past",
        "gusts of wind; wind; wind noise",
    ),
    "sea_waves": _words(
        "waves|crash on a shore|crashing on a shore; sea waves|roll in|rolling in; "
        "the surf|washes over a beach|washing over a beach",
        "ocean surf; ocean waves; waves, surf",
    ),
    "stream": _words(
        "a stream|flows|flowing; water|runs|running; "
        "a creek|trickles over stones|trickling over stones",
        "running water; the babble of a brook; stream",
    ),
    "fire_crackling": _words(
        "a fire|crackles|crackling; wood|burns and pops|burning and popping; "
        "flames|crackle|crackling",
        "crackling of a campfire; a crackling fire; fire",
    ),
    "thunder": _words(
        "thunder|rumbles|rumbling; thunder|roars|roaring",
        "a clap of thunder; rolling thunder; thunderstorm",
    ),
    "water_drip": _words(
        "water|drips|dripping; a faucet|drips slowly|dripping slowly; drops of water|fall|falling",
        "dripping of water; a dripping faucet; drip",
    ),
    "engine_idling": _words(
        "an engine|idles|idling; a motor|runs steadily|running steadily; a vehicle|idles|idling",
        "idling of a truck; idling; engine",
    ),
    "highway_traffic": _words(
        "cars|drive by|driving by; traffic|passes|passing; "
        "vehicles|pass on a road|passing on a road",
        "traffic noise; highway traffic; traffic noise, roadway noise",
    ),
    "train_rolling": _words(
        "a train|rolls over tracks|rolling over tracks; railway cars|rattle past|rattling past; "
        "a train|passes|passing",
        "clickety-clack of a train; rail transport; train",
    ),
    "engine_revving": _words(
        "an engine|revs|revving; a motorcycle|revs up|revving up; "
        "a motorbike|accelerates|accelerating",
        "revving of a motor; accelerating, revving, vroom",
    ),
    "siren": _words(
        "a siren|wails|wailing; an ambulance siren|blares|blaring; a police siren|sounds|sounding",
        "an emergency siren; wailing of a siren; siren",
    ),
    "car_horn": _words(
        "a car|honks|honking; a vehicle horn|beeps|beeping; a driver|honks|honking",
        "honking of a car; a car horn; vehicle horn, car horn, honking",
    ),
    "train_horn": _words(
        "a train horn|blows|blowing; a train|blows its horn|blowing its horn; "
        "a locomotive horn|sounds|sounding",
        "the blast of a train horn; train horn",
    ),
    "bicycle_bell": _words(
        "a bicycle bell|rings|ringing; a bike bell|dings|dinging; "
        "a cyclist|rings a bell|ringing a bell",
        "ringing of a bicycle bell; the ding of a bike bell; bicycle bell",
    ),
    "helicopter": _words(
        "a helicopter|flies|flying; helicopter blades|whir|whirring; "
        "a chopper|hovers overhead|hovering overhead",
        "whirring of a helicopter; helicopter",
    ),
    "air_conditioner": _words(
        "an air conditioner|hums|humming; a fan|runs steadily|running steadily; "
        "ventilation|hums|humming",
        "the hum of ventilation; a low electric hum; air conditioning",
    ),
    "vacuum_cleaner": _words(
        "a vacuum cleaner|runs|running; a vacuum|whirs|whirring; someone|vacuums|vacuuming",
        "vacuuming of a carpet; the whine of a vacuum cleaner; vacuum cleaner",
    ),
    "clock_ticking": _words(
        "a clock|ticks|ticking; a watch|ticks steadily|ticking steadily; "
        "a wall clock|tick-tocks|tick-tocking",
        "ticking of a clock; a ticking clock; tick-tock",
    ),
    "telephone_ring": _words(
        "a telephone|rings|ringing; a phone|rings|ringing; an old telephone|rings|ringing",
        "ringing of a phone; a telephone bell; telephone bell ringing",
    ),
    "alarm_clock": _words(
        "an alarm clock|beeps|beeping; an alarm|goes off|going off; "
        "an alarm|beeps repeatedly|beeping repeatedly",
        "beeping of an alarm; electronic beeps; alarm clock",
    ),
    "doorbell": _words(
        "a doorbell|rings|ringing; a doorbell|chimes|chiming",
        "the ding-dong of a doorbell; chiming of a doorbell; doorbell",
    ),
    "door_knock": _words(
        "someone|knocks on a door|knocking on a door; a person|knocks on wood|knocking on wood",
        "a knock at the door; raps on a door; knock",
    ),
    "keyboard_typing": _words(
        "a person|types|typing; someone|types on a keyboard|typing on a keyboard; "
        "keyboard keys|click|clicking",
        "typing on a keyboard; clacking of a keyboard; computer keyboard",
    ),
    "glass_breaking": _words(
        "glass|breaks|breaking; glass|shatters|shattering; a window|smashes|smashing",
        "breaking of glass; shatter; the smash of a window",
    ),
    "coin_drop": _words(
        "a coin|drops|dropping; a coin|bounces on a table|bouncing on a table; "
        "a coin|clinks|clinking",
        "clinking of a coin; coin (dropping)",
    ),
    "keys_jangling": _words(
        "keys|jangle|jangling; a bunch of keys|rattles|rattling; someone|shakes keys|shaking keys",
        "jingling of keys; keys jangling",
    ),
    "zipper": _words(
        "someone|zips a bag|zipping a bag; a zipper|zips|zipping; "
        "a zip|opens and closes|opening and closing",
        "zipping up of a jacket; zipper (clothing)",
    ),
    "church_bell": _words(
        "a church bell|rings|ringing; church bells|ring|ringing; a large bell|tolls|tolling",
        "tolling of a bell; church bell",
    ),
    "gunshot": _words(
        "a gun|fires|firing; someone|fires a gun|firing a gun; gunshots|ring out|ringing out",
        "a gunshot; the crack of a rifle; gunshot, gunfire",
    ),
    "hand_saw": _words(
        "someone|saws a board|sawing a board; a saw|cuts wood|cutting wood; "
        "a hand saw|scrapes|scraping",
        "sawing of wood; sawing",
    ),
    "whistle": _words(
        "a whistle|blows|blowing; a referee|blows a whistle|blowing a whistle",
        "the shrill of a whistle; a whistle blast; whistle",
    ),
    "hammering": _words(
        "someone|hammers on wood|hammering on wood; a hammer|strikes a nail|striking a nail",
        "hammering of nails; hammer blows; hammer",
    ),
    "fireworks": _words(
        "fireworks|explode|exploding; fireworks|go off|going off; "
        "fireworks|burst in the sky|bursting in the sky",
        "booming of fireworks; crackling fireworks; fireworks",
    ),
    "crickets": _words(
        "crickets|chirp|chirping; insects|chirp at night|chirping at night; crickets|sing|singing",
        "chirping of crickets; cricket",
    ),
    "dog_bark": _words(
        "a dog|barks|barking; dogs|bark|barking; a dog|barks repeatedly|barking repeatedly",
        "barking of a dog; dog barks; bark",
    ),
    "cat_meow": _words(
        "a cat|meows|meowing; a kitten|mews|mewing",
        "meowing of a cat; cat meows; meow",
    ),
    "rooster_crow": _words(
        "a rooster|crows|crowing; a cock|crows loudly|crowing loudly; "
        "a rooster|cock-a-doodle-doos|cock-a-doodle-dooing",
        "crowing of a rooster; chicken, rooster; crowing, cock-a-doodle-doo",
    ),
    "cow_moo": _words(
        "a cow|moos|mooing; cattle|low|lowing; a cow|bellows|bellowing",
        "mooing of a cow; moo",
    ),
    "sheep_bleat": _words(
        "a sheep|bleats|bleating; a goat|bleats|bleating; a lamb|baas|baaing",
        "bleating of a sheep; bleat",
    ),
    "duck_quack": _words(
        "a duck|quacks|quacking; ducks|quack|quacking; "
        "a duck|quacks several times|quacking several times",
        "quacking of a duck; quack",
    ),
    "frog_croak": _words(
        "a frog|croaks|croaking; frogs|croak|croaking",
        "croaking of a frog; the croak of a frog; frog",
    ),
    "owl_hoot": _words(
        "an owl|hoots|hooting; an owl|calls|calling",
        "hooting of an owl; the call of an owl; owl; hoot",
    ),
    "bird_chirp": _words(
        "a bird|chirps|chirping; birds|chirp|chirping; a bird|sings|singing; "
        "a bird|tweets|tweeting",
        "chirping of a bird; birdsong; chirp, tweet",
    ),
    "bee_buzz": _words(
        "a bee|buzzes|buzzing; a fly|buzzes around|buzzing around; an insect|buzzes|buzzing",
        "buzzing of an insect; bee, wasp, etc.",
    ),
    "horse_clip_clop": _words(
        "a horse|trots|trotting; a horse|walks by|walking by; hooves|clop|clopping",
        "clip-clop of horse hooves; clip-clop",
    ),
    "drum_beat": _words(
        "drums|play|playing; a drummer|plays a beat|playing a beat; "
        "someone|plays the drums|playing the drums",
        "a drum beat; drumming of a drum kit; drum kit",
    ),
    "piano_notes": _words(
        "a piano|plays|playing; someone|plays a piano|playing a piano; "
        "a pianist|plays notes|playing notes",
        "piano music; a piano melody; piano",
    ),
    "guitar_pluck": _words(
        "a guitar|plays|playing; someone|plays an acoustic guitar|playing an acoustic guitar; "
        "guitar strings|are plucked|being plucked",
        "plucking of a guitar; an acoustic guitar tune; acoustic guitar",
    ),
    "flute_melody": _words(
        "a flute|plays|playing; someone|plays the flute|playing the flute",
        "a flute melody; flute music; flute",
    ),
    "crowd_babble": _words(
        "a crowd|talks|talking; people|chatter|chattering; "
        "many people|talk at once|talking at once",
        "murmur of a crowd; the babble of voices; hubbub, speech noise, speech babble",
    ),
    "speech": _words(
        "a man|speaks|speaking; a person|talks|talking; someone|speaks|speaking",
        "speech of a person; a voice; speech",
    ),
    "footsteps": _words(
        "a person|walks|walking; someone|walks by|walking by; "
        "a person|walks on a hard floor|walking on a hard floor",
        "footsteps; steps of a person walking; walk, footsteps",
    ),
    "hand_clap": _words(
        "a person|claps|clapping; someone|claps slowly|clapping slowly; hands|clap|clapping",
        "clapping of hands; a few claps; clapping",
    ),
    "applause": _words(
        "an audience|applauds|applauding; people|applaud|applauding; a crowd|claps|clapping",
        "a round of applause; applause",
    ),
    "baby_cry": _words(
        "a baby|cries|crying; an infant|wails|wailing; an infant|cries|crying",
        "crying of a baby; baby cry, infant cry",
    ),
    "cough": _words(
        "a person|coughs|coughing; someone|coughs|coughing; a man|coughs|coughing",
        "a cough; coughing; coughing of a person",
    ),
    "snoring": _words(
        "a person|snores|snoring; a man|snores loudly|snoring loudly; someone|snores|snoring",
        "snoring of a sleeper; loud snores; snoring",
    ),
    "laughter": _words(
        "a person|laughs|laughing; someone|laughs|laughing; "
        "a man|laughs heartily|laughing heartily",
        "a hearty laugh; laughter",
    ),
    "sneeze": _words(
        "a person|sneezes|sneezing; someone|sneezes|sneezing; a man|sneezes loudly|sneezing loudly",
        "a sneeze; sneezing of a person; sneeze",
    ),
    "chainsaw": _words(
        "a chainsaw|runs|running; a chainsaw|buzzes|buzzing; "
        "someone|cuts wood with a chainsaw|cutting wood with a chainsaw",
        "the whine of a chainsaw; chainsaw",
    ),
    "male_speech": _words(
        "a man|speaks|speaking; a man|talks|talking; a male voice|speaks|speaking",
        "speech of a man; a male voice; male speech, man speaking",
    ),
    "female_speech": _words(
        "a woman|speaks|speaking; a woman|talks|talking; a female voice|speaks|speaking",
        "speech of a woman; a female voice; female speech, woman speaking",
    ),
    "beep": _words(
        "a tone|beeps|beeping; a device|beeps|beeping; a beep|sounds|sounding",
        "a beep; an electronic tone; beep, bleep",
    ),
    "chords": _words(
        "chords|play|playing; a synthesizer|plays chords|playing chords; an organ|plays|playing",
        "synthesizer chords; organ music; synthesizer",
    ),
    "melody": _words(
        "a melody|plays|playing; a synthesizer|plays a tune|playing a tune; "
        "electronic music|plays|playing",
        "a synthesizer melody; electronic music; music",
    ),
}
