"""Array types that the shared scene module does not name."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.signedinteger]
Bools: TypeAlias = npt.NDArray[np.bool_]
