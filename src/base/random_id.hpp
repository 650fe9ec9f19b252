// Unique names: 128 random bits from the kernel, in hexadecimal. For what must differ between processes and machines
// and decides nothing; draws that decide come from base/random.hpp. Any thread.
#pragma once

#include <string>

namespace zeus {

std::string random_id();

}  // namespace zeus
