"""Instructions of made samples, in the wording of the paper's Table 11, and words to stress."""

from __future__ import annotations

import re
from collections import Counter

INSTRUCTIONS = {
    "en": {
        "faster": "Speak faster.",
        "slower": "Speak slower.",
        "higher": "Raise the pitch.",
        "lower": "Lower the pitch.",
        "stress": 'Emphasize the word "{word}".',
        "noisy": "Remove background noise from the speech.",
        "reverberant": "Remove reverberation from the speech.",
        "bathroom": "Add bathroom reverberation to the speech.",
        "small_room": "Add small-room reverberation to the speech.",
        "large_hall": "Add large-hall reverberation to the speech.",
        "outdoor": "Add outdoor background noise to the speech.",
        "crowd": "Add crowd background noise to the speech.",
        "music": "Add background music to the speech.",
        "speaker": (
            "Convert the voice of the source audio to match the speaker in the reference clip."
        ),
    },
    "zh": {
        "faster": "加快语速。",
        "slower": "放慢语速。",
        "higher": "提高音调。",
        "lower": "降低音调。",
        "stress": "重读“{word}”。",
        "noisy": "去除语音中的背景噪声。",
        "reverberant": "去除语音中的混响。",
        "bathroom": "添加浴室混响。",
        "small_room": "添加小房间混响。",
        "large_hall": "添加大厅混响。",
        "outdoor": "添加户外背景噪声。",
        "crowd": "添加人群背景噪声。",
        "music": "添加背景音乐。",
        "speaker": "请将源音频的说话人音色转换为参考片段中的音色。",
    },
}

_SHORTEST_WORD = 4
_FUNCTION_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        about above across after again against along already also although always among another
        anybody anyone anything around because been before behind being below beneath beside between
        beyond both cannot could does doing done down during each either else even ever every
        everyone everything except from further have having hers herself himself here however into
        itself just less like many maybe might mine more most much must myself near neither never
        nobody none nothing often once only onto other others ought ours ourselves over perhaps
        quite rather same shall should since some somebody someone something still such than that
        their theirs them themselves then there these they this those though through thus together
        toward towards under until unto upon very were what whatever when whenever where wherever
        whether which while whom whose will with within without would your yours yourself yourselves
        """,
    )
)


def content_words(transcript: str) -> list[str]:
    """English words that can be told to be stressed: of four letters or more, no function words,
    and said once, so that it is clear which is meant.

    >>> content_words("The pride of that image; the pride, Brother Dowie's image of dignity.")
    ['Brother', 'dignity']
    """
    words = re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", transcript)
    said = Counter(word.lower() for word in words)
    return [
        word
        for word in words
        if word.isalpha()
        and len(word) >= _SHORTEST_WORD
        and word.lower() not in _FUNCTION_WORDS
        and said[word.lower()] == 1
    ]
