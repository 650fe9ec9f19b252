#include "optimize/batch_size/policy_factory.hpp"

#include "optimize/batch_size/default_policy.hpp"
#include "optimize/batch_size/grid_policy.hpp"
#include "optimize/batch_size/lookahead_policy.hpp"
#include "optimize/batch_size/zeus_policy.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace zeus::optimize {

namespace {

constexpr std::array<std::string_view, 4> names = {best_policy, "zeus", "grid", "default"};

}  // namespace

std::span<const std::string_view> policy_names() {
  return names;
}

std::unique_ptr<Policy> make_policy(std::string_view name, const JobSpec& spec) {
  if (name == best_policy) {
    return std::make_unique<LookaheadPolicy>(spec);
  }
  if (name == "zeus") {
    return std::make_unique<ZeusPolicy>(spec);
  }
  if (name == "grid") {
    return std::make_unique<GridPolicy>(spec);
  }
  if (name == "default") {
    return std::make_unique<DefaultPolicy>(spec);
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("there is no policy '{}'", name),
              fmt::format("choose one of {}", fmt::join(names, ", "))};
}

}  // namespace zeus::optimize
