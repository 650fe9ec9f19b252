#include "records/power_setting.hpp"

#include <ostream>

namespace zeus {

std::ostream& operator<<(std::ostream& stream, const PowerSetting& setting) {
  stream << setting.limit;
  return setting.clock ? stream << " at " << *setting.clock : stream;
}

}  // namespace zeus
