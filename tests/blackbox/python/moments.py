"""Points in time between the actions of a test."""

import math
import time


def between():
    """Returns a whole second after all earlier actions and before all later ones; SDKs send times without fractions."""
    moment = math.floor(time.time()) + 1
    time.sleep(moment - time.time() + 0.05)
    return moment
