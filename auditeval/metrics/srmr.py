"""SRMR: speech-to-reverberation modulation energy ratio (Falk, Zheng and Chan 2010)."""

from __future__ import annotations

import numpy as np
from scipy import signal

from auditeval.audio import Waveform, resample
from auditeval.pretrained.packages import imported
from auditeval.types import Undefined

RATE_HZ = 16000

_BANDS, _LOWEST_HZ = 23, 125.0
_WINDOW_SECONDS, _HOP_SECONDS = 0.010, 0.0025  # of the gammatonegram
_ENVELOPE_HZ = 400.0
_FRAME, _FRAME_HOP = 103, 26  # of the envelopes: 256 ms, each 64 ms
_MODULATIONS_HZ = np.geomspace(4.0, 128.0, 8)
_Q = 2
_SLOW = 4
"""So many of the modulation bands, up to 18 Hz, are those of speech."""


def srmr(clip: Waveform) -> float | Undefined:
    """Energy of slow over that of fast modulations at 16 kHz; reverberation lowers it.

    Of the variants of SRMRpy its default: gammatonegram by FFT ("fast"), modulation bands from 4 to
    128 Hz, energies not normalised; equal to it to 1e-9. Needs the package `gammatone`. Undefined
    for a clip that is silent or shorter than one frame of 0.26 s.

    >>> t = np.arange(RATE_HZ) / RATE_HZ
    >>> syllables = (1 + np.sin(2 * np.pi * 6 * t)) * np.sin(2 * np.pi * 1000 * t)
    >>> round(srmr(Waveform(syllables.astype(np.float32), RATE_HZ)), 1)
    80.4
    """
    fft_gtgram = imported("gammatone.fftweight", "bench").fft_gtgram
    centre_freqs = imported("gammatone.filters", "bench").centre_freqs

    samples = resample(clip, RATE_HZ).astype(np.float64)
    envelopes = np.zeros((_BANDS, 0))
    if len(samples) > _WINDOW_SECONDS * RATE_HZ * 4:
        envelopes = fft_gtgram(samples, RATE_HZ, _WINDOW_SECONDS, _HOP_SECONDS, _BANDS, _LOWEST_HZ)
    if envelopes.shape[1] < _FRAME:
        return Undefined("shorter than one frame of 0.26 s")
    energies = np.array([_modulation_energies(envelope) for envelope in envelopes])
    if not energies.sum() > 0:
        return Undefined("silence has no modulation")

    # The fast bands reach as far as the band that holds the 90th percent of the energy can be
    # modulated. Energies are counted from the highest band, bandwidths from the lowest: so does
    # SRMRpy where it is fast (its slow variant has its bands the other way), and so do its figures.
    by_band = energies.sum(axis=1)[::-1]
    held = np.cumsum(by_band * 100 / by_band.sum())
    centres = centre_freqs(RATE_HZ, _BANDS, _LOWEST_HZ)[::-1]
    bandwidth = centres[np.argmax(held > 90)] / 9.26449 + 24.7  # ERB of Glasberg and Moore
    angles = np.pi * _MODULATIONS_HZ / RATE_HZ  # the audio's rate, not the envelopes', as there
    lower_edges = _MODULATIONS_HZ - np.tan(angles) / _Q * RATE_HZ / (2 * np.pi)
    last = int((bandwidth > lower_edges).sum())
    return float(energies[:, :_SLOW].sum() / energies[:, _SLOW:last].sum())


def _modulation_energies(envelope: np.ndarray) -> np.ndarray:
    """Mean energy of a band's envelope in each modulation band :: (T,) -> (8,)."""
    count = 1 + (len(envelope) - _FRAME) // _FRAME_HOP
    window = signal.get_window("hamming", _FRAME)  # periodic
    made = np.zeros(len(_MODULATIONS_HZ))
    for place, centre in enumerate(_MODULATIONS_HZ):
        w0 = np.tan(np.pi * centre / _ENVELOPE_HZ)
        b0 = w0 / _Q
        filtered = signal.lfilter(
            [b0, 0, -b0], [1 + b0 + w0**2, 2 * w0**2 - 2, 1 - b0 + w0**2], envelope
        )
        frames = np.lib.stride_tricks.sliding_window_view(filtered, _FRAME)[::_FRAME_HOP][:count]
        made[place] = np.square(window * frames).sum(axis=1).mean()
    return made
