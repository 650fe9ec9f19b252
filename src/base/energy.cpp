#include <zeus/energy.hpp>

#include "base/amount_text.hpp"

#include <ostream>

namespace zeus {

std::ostream& operator<<(std::ostream& stream, const Energy& energy) {
  return stream << to_text(energy.value, energy.uncertainty);
}

}  // namespace zeus
