"""`LocalJudge`: a Qwen2.5-Omni or Qwen3-Omni Thinker in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auditeval import audio
from auditeval.judges.judge import Answer, Question, Reply, Usage
from auditeval.judges.patience import FAILURES, checked_failures
from auditeval.judges.replies import heading, parsed, prompt_with_schema
from auditeval.reading import json_file
from auditeval.types import UserError


class LocalJudge:
    """The Thinker in `checkpoint`, a folder or hub id, on a torch device.

    A question is asked in the chat template that lies beside the model. Temperature 0 is greedy
    decoding; above it the seed comes from the question. Clips are heard at 16 kHz; a clip that is
    too short for an audio token, or too long for the memory, has no answer. Threads take turns.
    After `failures` questions in a row without an answer a run ends. Raises UserError for what is
    no such model.
    """

    def __init__(
        self,
        checkpoint: str,
        device: str = "cpu",
        dtype: str = "float32",
        checkpoint_revision: str | None = None,
        name: str | None = None,
        max_new_tokens: int = 1024,
        failures: int = FAILURES,
    ) -> None:
        from auditeval.pretrained.qwen_omni import DTYPES, find, fingerprint

        if dtype not in DTYPES:
            raise UserError(f"dtype {dtype!r} is none of {', '.join(DTYPES)}")
        folder, _ = find(checkpoint, checkpoint_revision)
        self._family, config = _configured(checkpoint, folder)
        self._tokenizer, template, self._front_end = _front(checkpoint, folder)
        clip = "".join(self._family[1:4])
        self._template = template or _TEMPLATE.replace("AUDIO", clip)
        self._model = _thinker(checkpoint, folder, self._family, config, DTYPES[dtype])
        self._model.to(device)
        self.name = name or Path(checkpoint).name
        self.revision = f"1-{fingerprint(checkpoint, folder)}-{dtype}-{max_new_tokens}"
        self.failures = checked_failures(failures)
        self._max_new_tokens = max_new_tokens
        self._special = sorted(self._tokenizer.get_added_vocab())
        self._lock = threading.Lock()

    def ask(self, question: Question[Reply]) -> Answer[Reply]:
        """See `Judge.ask`."""
        import torch

        from auditeval.pretrained.threads import one_thread

        try:
            inputs = self._inputs(question)
        except audio.AudioError as error:
            return Answer(None, str(error), refused=True)
        read = inputs["input_ids"].shape[1]
        on_device = {name: tensor.to(self._model.device) for name, tensor in inputs.items()}
        try:
            with self._lock, one_thread(), torch.inference_mode(), torch.random.fork_rng():
                torch.manual_seed(int(question.key[:8], 16))
                made = self._model.generate(
                    **on_device, generation_config=self._generation(question.temperature)
                )
        except torch.OutOfMemoryError:
            reason = f"a question of {read} tokens is too long for the judge's memory"
            return Answer(None, reason, refused=True)
        written = made[0, read:].cpu()
        found = parsed(self._tokenizer.decode(written, skip_special_tokens=True), question.reply)
        usage = Usage(1, read, len(written))
        if isinstance(found, str):
            return Answer(None, found, usage)
        return Answer(found, "", usage)

    def text(self, question: Question[Reply], token_counts: list[int]) -> str:
        """What the model reads, with as many audio placeholders as the clips have tokens."""
        texts = [question.system_prompt, question.prompt, *(name for name, _ in question.clips)]
        if found := [token for token in self._special if any(token in text for text in texts)]:
            raise audio.AudioError(f"the question holds {found[0]}, which is no word to the model")
        content: list[dict[str, str]] = []
        for name, _ in question.clips:
            if not question.prompt_first:
                content.append({"type": "text", "text": f"{heading(name)} "})
            content.append({"type": "audio", "audio": name})
        place = 0 if question.prompt_first else len(content)
        content.insert(place, {"type": "text", "text": prompt_with_schema(question)})
        messages: list[dict[str, Any]] = [{"role": "user", "content": content}]
        if question.system_prompt:
            system = [{"type": "text", "text": question.system_prompt}]
            messages.insert(0, {"role": "system", "content": system})
        text = self._tokenizer.apply_chat_template(
            messages, chat_template=self._template, tokenize=False, add_generation_prompt=True
        )
        first, *rest = text.split(self._family.audio_token)
        # One too few is no error in transformers, but shifts every token behind it.
        assert len(rest) == len(token_counts)
        placed = (self._family.audio_token * count for count in token_counts)
        return first + "".join(a + b for a, b in zip(placed, rest, strict=True))

    def _inputs(self, question: Question[Reply]) -> dict[str, Any]:
        import torch

        from auditeval.features.extractors.qwen_omni import log_mel

        rate_hz = self._front_end.sampling_rate
        mels = [
            log_mel(self._front_end, audio.resample(clip, rate_hz)) for _, clip in question.clips
        ]
        counts = [self._family.token_count(mel.shape[1]) for mel in mels]
        for (name, clip), count in zip(question.clips, counts, strict=True):
            if count < 1:
                raise audio.AudioError(f"{name} of {clip.seconds:.3f} s is too short for the judge")
        ids = self._tokenizer(self.text(question, counts), add_special_tokens=False)["input_ids"]
        inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids))}
        inputs["attention_mask"] = inputs["attention_mask"].long()
        if mels:
            longest = max(mel.shape[1] for mel in mels)
            filled = [np.pad(mel, ((0, 0), (0, longest - mel.shape[1]))) for mel in mels]
            heard = [[1] * mel.shape[1] + [0] * (longest - mel.shape[1]) for mel in mels]
            inputs["input_features"] = torch.from_numpy(np.stack(filled)).to(self._model.dtype)
            inputs["feature_attention_mask"] = torch.tensor(heard)
        return inputs

    def _generation(self, temperature: float) -> Any:
        from transformers import GenerationConfig

        ends = self._tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])
        sampling = {"do_sample": True, "temperature": temperature} if temperature else {}
        return GenerationConfig(
            max_new_tokens=self._max_new_tokens, eos_token_id=ends, pad_token_id=ends[1], **sampling
        )


def _tokens_2_5(mel_frames: int) -> int:
    from auditeval.features.extractors.qwen_omni import token_count

    return token_count(mel_frames)


def _tokens_3(mel_frames: int) -> int:
    """Three convolutions that halve, 13 tokens of each block of 100 frames."""
    blocks, rest = divmod(mel_frames, 100)
    for _ in range(3):
        rest = (rest - 1) // 2 + 1
    return 13 * blocks + rest


class _Family(NamedTuple):
    """A Thinker's class in transformers, the tokens of a clip and how many the middle one is."""

    thinker: str
    audio_start: str
    audio_token: str
    audio_end: str
    token_count: Callable[[int], int]


_FAMILIES: Mapping[str, _Family] = {
    "qwen2_5_omni_thinker": _Family(
        "Qwen2_5OmniThinkerForConditionalGeneration",
        "<|audio_bos|>",
        "<|AUDIO|>",
        "<|audio_eos|>",
        _tokens_2_5,
    ),
    "qwen3_omni_moe_thinker": _Family(
        "Qwen3OmniMoeThinkerForConditionalGeneration",
        "<|audio_start|>",
        "<|audio_pad|>",
        "<|audio_end|>",
        _tokens_3,
    ),
}

# ChatML, for a folder without a template of its own.
_TEMPLATE = """{% for message in messages %}<|im_start|>{{ message.role }}
{% for part in message.content %}{% if part.type == 'audio' %}AUDIO{% else %}{{ part.text }}\
{% endif %}{% endfor %}<|im_end|>
{% endfor %}<|im_start|>assistant{{ '\\n' }}"""


def _configured(name: str, folder: Path) -> tuple[_Family, Any]:
    import transformers

    from auditeval.pretrained.packages import first_line

    try:
        # Not AutoConfig, which would offer to run code that lies beside an unknown model.
        whole = transformers.PretrainedConfig.get_config_dict(folder)[0]
        thinker = whole.get("thinker_config", whole)
        kind = thinker.get("model_type", f"{whole.get('model_type')}_thinker")
        family = _FAMILIES.get(kind)
        if family is not None:
            return family, getattr(transformers, family.thinker).config_class(**thinker)
    except Exception as error:  # whatever a malformed configuration provokes in transformers
        raise UserError(f"{name}: its config.json cannot be read ({first_line(error)})") from None
    raise UserError(f"{name}: is a model of type {kind}; expected {' or '.join(_FAMILIES)}")


def _front(name: str, folder: Path) -> tuple[Any, str | None, Any]:
    """Tokenizer, chat template and feature extractor: the official processor wants torchvision."""
    from transformers import AutoTokenizer, WhisperFeatureExtractor

    from auditeval.pretrained.packages import first_line
    from auditeval.pretrained.quiet import quiet_transformers

    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            front_end = WhisperFeatureExtractor.from_pretrained(folder)
        template = tokenizer.chat_template
        beside = folder / "chat_template.json"
        if template is None and beside.exists():
            template = json_file(beside)["chat_template"]
    except Exception as error:  # as above
        raise UserError(f"{name}: its processor cannot be read ({first_line(error)})") from None
    return tokenizer, template, front_end


def _thinker(name: str, folder: Path, family: _Family, config: Any, dtype: Any) -> Any:
    import transformers

    from auditeval.pretrained.packages import first_line
    from auditeval.pretrained.quiet import quiet_transformers

    try:
        with quiet_transformers():
            model, found = getattr(transformers, family.thinker).from_pretrained(
                folder, config=config, dtype=dtype, use_safetensors=True, output_loading_info=True
            )
    except Exception as error:  # as above
        raise UserError(f"{name}: cannot be loaded ({first_line(error)})") from None
    if missing := sorted(map(str, found["missing_keys"])):
        raise UserError(f"{name}: missing keys, {missing[0]} among them")
    return model.eval().requires_grad_(False)
