#include "drivers/session/load_plan.hpp"

#include "physics/workload.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>

namespace zeus::drivers {

namespace {

constexpr std::size_t largest_table = std::size_t{64} << 20;

// An unknown workload is a usage error here, although the physics reports not_found.
void check_workload(std::string_view name) {
  std::optional<Error> unknown;
  try {
    (void)physics::workload(name);
    return;
  } catch (const Error& error) {
    unknown = error;
  }
  throw Error{ErrorKind::invalid_argument, unknown->message(), unknown->advice()};
}

struct Maker {
  const physics::GpuModel* model = nullptr;
  Instant origin;

  physics::Load operator()(const IdleLoad&) const { return physics::Load::constant(physics::Demand::none()); }
  physics::Load operator()(const ConstantLoad& load) const {
    return physics::Load::constant(physics::Demand::of_power(load.power));
  }
  physics::Load operator()(const SquareLoad& load) const {
    return physics::Load::square(physics::Demand::of_power(load.low), physics::Demand::of_power(load.high), load.period,
                                 origin);
  }
  physics::Load operator()(const WorkLoad& load) const {
    return physics::Load::constant(physics::Demand::of_work(load.busy, load.activity, load.memory));
  }
  physics::Load operator()(const TableLoad&) const { return physics::Load::from_table(origin, false); }
  physics::Load operator()(const FollowLoad& load) const {
    const physics::Workload& workload = physics::workload(load.workload);
    return physics::Load::constant(workload.demand(*model, workload.default_batch_size(*model)));
  }
};

}  // namespace

LoadPlan::LoadPlan(std::string_view text, const FileTree& files) : text_{parse_load(text)} {
  if (const auto* const named = std::get_if<TableLoad>(&text_)) {
    const std::optional<std::string> content =
        files.read(std::filesystem::absolute(named->file).string(), largest_table);
    if (!content) {
      throw Error{ErrorKind::not_found, fmt::format("there is no file {}", named->file),
                  "check the path, which is relative to the current folder"};
    }
    table_ = parse_power_table(*content, named->file);
  }
  if (const auto* const followed = std::get_if<FollowLoad>(&text_)) {
    check_workload(followed->workload);
  }
}

LoadPlan LoadPlan::without_file(std::string_view text) {
  LoadPlan plan{parse_load(text)};
  if (plan.follows() || std::holds_alternative<TableLoad>(plan.text_)) {
    throw Error{ErrorKind::invalid_argument, fmt::format("'{}' cannot begin in the middle of a session", text),
                "give it to `zeus virtual --load`"};
  }
  return plan;
}

bool LoadPlan::follows() const {
  const auto* const work = std::get_if<WorkLoad>(&text_);
  return std::holds_alternative<FollowLoad>(text_) || (work != nullptr && work->followed);
}

physics::Load LoadPlan::load(const physics::GpuModel& model, Instant origin) const {
  return std::visit(Maker{&model, origin}, text_);
}

}  // namespace zeus::drivers
