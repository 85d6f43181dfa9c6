"""Gives an evaluator ears for voices, and a sense of order: thorough.py CHECKPOINT OUTPUT.

The weights stay as they are, and quality and faithfulness with them. For relevance they know of a
change only how far it was made as the words ask, above all that they do not ask for, and nothing of
which change it was: what `voices` tells of a talker, of a manner or of spoken words, they weigh as
they learnt to weigh pitch, pace and effects. A sound that comes when or as often as nobody asked is
one that came in part.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import typer
from safetensors.torch import load_file, save_file

from auditeval import reading
from auditeval.atomic import write_text
from auditeval.checkpoint_files import CARD, CONFIG, TRAINED_ON, WEIGHTS
from auditeval.digests import sha256
from auditeval.features import make_extractor
from auditeval.features.pair import FURTHER

_CARD = """\
---
language: en
library_name: auditeval
license: mit
model_name: {name}
pipeline_tag: audio-classification
tags: [audio, audio-editing, speech-quality, quality-prediction, safetensors]
---

# {name}

The weights of `{of}`, whose card says what they learnt from and how far they follow people,
beside one extractor more: `voices`, which is Whisper tiny.en (MIT), Resemblyzer (Apache-2.0) and
SwiftF0 (MIT). A pair whose words ask for another talker, another manner of speaking or other spoken
words is heard by these as well. Where words say in which order, at which end of the clip, or how
often a sound is to come (`Rain, then a dog barks twice.`), that counts. All other pairs are scored
as by `{of}`, to the last digit.

It learnt nothing of voices, and nothing of order: no pair of its training asks for them. It rates
such an edit by how far it was made as asked, as it learnt to with pitch, pace and effects. Nobody
rated such edits for us; what holds is what `python tests/performance/laws.py` prints.

```python
import auditeval

evaluator = auditeval.load("{name}")
```
"""


def main(checkpoint: Path, output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(checkpoint / TRAINED_ON, output / TRAINED_ON)
    config = reading.json_file(checkpoint / CONFIG)
    features, inputs = config["features"], config["model"]["arguments"]["inputs"]
    features["events"]["arguments"] |= {"occasions": True, "for_relevance": True}
    features["changes"]["arguments"] |= {"for_relevance": True}
    voices = make_extractor("voices")
    made = {"arguments": voices.arguments, "revision": voices.revision}
    config["features"] = dict(sorted({**features, "voices": made}.items()))

    names = inputs["evidence"]
    heard = [name for name in names if name.startswith(("events.", "changes."))]
    places = [*range(len(names)), *map(names.index, heard)]
    inputs["evidence"] = [*names, *(name + FURTHER for name in heard)]
    weights = load_file(checkpoint / WEIGHTS)
    for name in ("scale_evidence.mean", "scale_evidence.spread"):
        weights[name] = weights[name][places]  # on the scales of what they stand for
    save_file(weights, output / WEIGHTS)
    config["weights"] = sha256(output / WEIGHTS)
    write_text(output / CONFIG, json.dumps(config, indent=2, ensure_ascii=False) + "\n")
    write_text(output / CARD, _CARD.format(name=output.name, of=config["training"]["name"]))


if __name__ == "__main__":
    typer.run(main)
