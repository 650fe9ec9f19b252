#include <zeus/version.hpp>

namespace zeus {

std::string_view version() {
  return ZEUS_VERSION;
}

}  // namespace zeus
