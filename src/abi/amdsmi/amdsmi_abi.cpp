// Compiles the header alone, so that its layouts are held also where nobody includes it.
#include "abi/amdsmi/amdsmi_abi.hpp"
