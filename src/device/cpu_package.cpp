#include "device/cpu_package.hpp"

namespace zeus::device {

std::string_view to_string(CpuDomain domain) {
  return domain == CpuDomain::package ? "package" : "dram";
}

}  // namespace zeus::device
