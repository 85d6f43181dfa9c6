"""DNSMOS P.835: how a listener would rate speech, its background, and both together."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np

from auditeval import audio
from auditeval.backends.backend import Ratings
from auditeval.digests import sha256
from auditeval.pretrained.onnx import session
from auditeval.pretrained.packages import package_file

RATE_HZ = 16000
_WINDOW_SAMPLES = int(9.01 * RATE_HZ)
_LEAST_PEAK = 0.003  # -50 dBFS

# From what the network says to a rating, highest power first; of the authors' dnsmos_local.py.
_FITS = {
    "SIG": (-0.08397278, 1.22083953, 0.0052439),
    "BAK": (-0.13166888, 1.60915514, -0.39604546),
    "OVRL": (-0.06766283, 1.11546468, 0.04602535),
}
_PERSONALISED_FITS = {
    "SIG": (-0.01019296, 0.02751166, 1.19576786, -0.24348726),
    "BAK": (-0.04976499, 0.44276479, -0.1644611, 0.96883132),
    "OVRL": (-0.00533021, 0.005101, 1.18058466, -0.11236046),
}


class DNSMOS:
    """DNSMOS P.835 (Reddy et al. 2022), from the file in the package speechmos (MIT).

    SIG, BAK and OVRL, about 1 to 5: means over windows of 9.01 s, one each second. As in the
    authors' script, a clip that is shorter is doubled until it fills one. `personalised` hears
    other talkers as background. Samples beyond full scale are scaled down to it. The package itself
    would also run the P.808 model, and takes three times as long to the same numbers.
    """

    def __init__(self, personalised: bool = False) -> None:
        folder = "pdnsmos_models" if personalised else "dnsmos_models"
        weights = package_file("speechmos", f"{folder}/sig_bak_ovr.onnx")
        self._session = session(str(weights))
        self._fits = _PERSONALISED_FITS if personalised else _FITS
        self.name = "dnsmos-p835-personalised" if personalised else "dnsmos-p835"
        self.revision = f"2-{version('speechmos')}"
        self.fingerprint = sha256(weights)

    def __call__(self, clip: audio.Waveform) -> Ratings:
        """Raises AudioError for what is silent or nearly so: the model would rate it above speech
        in noise."""
        samples = audio.resample(clip, RATE_HZ)
        peak = float(np.abs(samples).max())
        if peak < _LEAST_PEAK:
            raise audio.AudioError(
                f"its peak is {peak:.2g}, under {_LEAST_PEAK}: near silence has no speech to rate"
            )
        samples = samples / max(1.0, peak)
        while len(samples) < _WINDOW_SAMPLES:
            samples = np.append(samples, samples)
        count = max(1, len(samples) // RATE_HZ - 9)  # the script's; one more would often fit
        # Its windows end where floating point has second + 9.01; one cut short so, it leaves out.
        ends = [(second * RATE_HZ, int((second + 9.01) * RATE_HZ)) for second in range(count)]
        starts = [start for start, end in ends if end - start >= _WINDOW_SAMPLES]
        said = np.array([self._run(samples[s : s + _WINDOW_SAMPLES]) for s in starts])
        return Ratings(
            {
                name: float(np.polyval(fit, said[:, place]).mean())
                for place, (name, fit) in enumerate(self._fits.items())
            }
        )

    def _run(self, window: np.ndarray) -> np.ndarray:
        return self._session.run(None, {"input_1": window[None].astype(np.float32)})[0][0]
