"""Signal measures of an edited clip against its original: what was used before evaluators."""

from __future__ import annotations

import numpy as np
from scipy import signal

from auditeval import audio
from auditeval.pretrained.packages import imported
from auditeval.types import Undefined

_RATE_HZ = 16000
_STOI_OF_NOTHING = 1e-5  # pystoi's sign for it


def pesq_wideband(original: audio.Waveform, edited: audio.Waveform) -> float | Undefined:
    """PESQ-WB (ITU-T P.862.2) of speech at 16 kHz, 1.04 to 4.64; higher is better.

    Undefined where PESQ finds no speech. Raises UserError without the package `pesq`.

    >>> noise = np.random.default_rng(0).standard_normal(16000)
    >>> clip = audio.Waveform(noise.astype(np.float32), 16000)
    >>> round(pesq_wideband(clip, clip), 2)
    4.64
    """
    pesq = imported("pesq", "baselines")
    reference, degraded = (audio.resample(clip, _RATE_HZ) for clip in (original, edited))
    if not degraded.any():  # the package divides by its peak
        return Undefined("PESQ: the edited clip is digital silence")
    try:
        return float(pesq.pesq(_RATE_HZ, reference, degraded, "wb"))
    except pesq.PesqError as error:
        return Undefined(f"PESQ: {error!r}")


def stoi(original: audio.Waveform, edited: audio.Waveform) -> float | Undefined:
    """Short-time objective intelligibility (Taal et al. 2011), up to 1; higher is better.

    Of the samples that both clips have. Undefined where there are not enough frames with speech, as
    in an original of digital silence. Raises UserError without the package `pystoi`.

    >>> noise = np.random.default_rng(0).standard_normal(16000)
    >>> clip = audio.Waveform(noise.astype(np.float32), 16000)
    >>> round(stoi(clip, clip), 6)
    1.0
    """
    pystoi = imported("pystoi", "bench")
    reference, degraded = (audio.resample(clip, _RATE_HZ) for clip in (original, edited))
    length = min(len(reference), len(degraded))
    # pystoi raises for less than a frame, 26 ms, and gives silence 0, were it the same silence.
    if length < audio.MIN_SECONDS * _RATE_HZ or not reference[:length].any():
        return Undefined("STOI: too few frames of speech")
    found = float(pystoi.stoi(reference[:length], degraded[:length], _RATE_HZ))
    return Undefined("STOI: too few frames of speech") if found == _STOI_OF_NOTHING else found


def negative_log_spectral_distance(
    original: audio.Waveform, edited: audio.Waveform
) -> float | Undefined:
    """Minus the log-spectral distance in dB, so that higher is better; 0 for identical clips.

    Root mean square over frequency of the difference of log power spectra (32 ms Hann windows,
    half overlapped, floor 80 dB below the loudest cell), mean over frames, at 16 kHz. The clips
    are aligned by the peak of their cross-correlation and compared where they overlap.

    >>> noise = np.random.default_rng(0).standard_normal(16000).astype(np.float32)
    >>> clip, half = audio.Waveform(noise, 16000), audio.Waveform(noise / 2, 16000)
    >>> round(negative_log_spectral_distance(clip, half), 2)
    -6.02
    """
    x, y = (audio.resample(clip, _RATE_HZ).astype(np.float64) for clip in (original, edited))
    correlation = signal.correlate(y, x, mode="full", method="fft")
    lag = int(np.argmax(np.abs(correlation))) - (len(x) - 1)
    x, y = x[max(-lag, 0) :], y[max(lag, 0) :]
    length = min(len(x), len(y))
    if length < 512:
        return Undefined("the aligned clips overlap by less than one window")
    spectra = [
        np.square(np.abs(signal.stft(part[:length], _RATE_HZ, nperseg=512)[2])) for part in (x, y)
    ]
    floor = 1e-8 * max(float(spectrum.max()) for spectrum in spectra)
    logs = [10 * np.log10(np.maximum(spectrum, floor)) for spectrum in spectra]
    return -float(np.sqrt(np.square(logs[0] - logs[1]).mean(axis=0)).mean())
