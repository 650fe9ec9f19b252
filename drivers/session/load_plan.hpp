// A load from a command line, made ready for a session: the demand for each kind of GPU, and the table of a file. Pure
// except for the file it reads; one thread.
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
  // Parses the string, reads the file that it names, and looks up the workload. Throws an Error for what does not exist
  // or cannot be understood.
  LoadPlan(std::string_view text, const FileTree& files);

  // The same for callers that cannot take a table or follow a command: those loads are refused.
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
