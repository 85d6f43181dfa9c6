"""Why an edit does not count: the types of Appendix G, and four that an evaluation needs beside."""

TARGET_NOT_APPLIED = "target not applied"
WRONG_LABEL = "wrong expressive label"
GLOBAL_DRIFT = "local content edit with global drift"
SPEAKER_MISS = "speaker target miss"
PROSODY_MISS = "prosody too weak or wrong direction"
PARALINGUISTIC_MISS = "paralinguistic add/remove miss"
ACOUSTIC_WITHOUT_PRESERVATION = "acoustic target without preservation"
ENVIRONMENT_MISS = "environment target miss"
PARTIAL_SUCCESS = "compositional partial success"

NOT_PRESERVED = "content not preserved"
MISSING = "missing output"
UNREADABLE = "unreadable output"
UNSCORED = "unscored"

FAILURES = (
    *(TARGET_NOT_APPLIED, WRONG_LABEL, GLOBAL_DRIFT, SPEAKER_MISS, PROSODY_MISS),
    *(PARALINGUISTIC_MISS, ACOUSTIC_WITHOUT_PRESERVATION, ENVIRONMENT_MISS, PARTIAL_SUCCESS),
    *(NOT_PRESERVED, MISSING, UNREADABLE, UNSCORED),
)
