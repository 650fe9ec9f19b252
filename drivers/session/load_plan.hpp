// A load as written on a command line, made ready for a session: the demand for each kind of GPU, and the table of a
// file. Pure but for the file it reads; one thread.
#pragma once

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "drivers/session/load_text.hpp"
#include "physics/gpu_model.hpp"
#include "physics/load.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace zeus::drivers {

class LoadPlan {
 public:
  // Parses the text, reads the file it names and looks the workload up. What does not exist or cannot be understood is
  // an Error.
  LoadPlan(std::string_view text, const FileTree& files);

  // The same where there is no place for a table and no command to follow: those are refused.
  static LoadPlan without_file(std::string_view text);

  [[nodiscard]] bool follows() const;
  [[nodiscard]] const std::vector<physics::TablePoint>& table() const { return table_; }
  // What such a GPU has to do from `origin` on.
  [[nodiscard]] physics::Load load(const physics::GpuModel& model, Instant origin) const;

 private:
  explicit LoadPlan(LoadText text) : text_{std::move(text)} {}

  LoadText text_;
  std::vector<physics::TablePoint> table_;
};

}  // namespace zeus::drivers
