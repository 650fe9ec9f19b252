#include "device/power.hpp"

namespace zeus::device {

std::string_view to_string(PowerScope scope) {
  switch (scope) {
    case PowerScope::gpu:
      return "gpu";
    case PowerScope::module:
      return "module";
    case PowerScope::memory:
      return "memory";
    case PowerScope::package:
      break;
  }
  return "package";
}

std::string_view to_string(PowerKind kind) {
  switch (kind) {
    case PowerKind::instant:
      return "instant";
    case PowerKind::average:
      return "average";
    case PowerKind::plain:
      break;
  }
  return "plain";
}

}  // namespace zeus::device
