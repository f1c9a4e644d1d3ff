"""Times between what tests do."""

import math
import time


def between():
    """A whole second between what was done before and what is done after; SDKs send times without fractions."""
    moment = math.floor(time.time()) + 1
    time.sleep(moment - time.time() + 0.05)
    return moment
