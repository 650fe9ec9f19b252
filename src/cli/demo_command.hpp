// `zeus demo`: a recurring job optimized end to end on a virtual GPU, in a virtual time of many nights.
#pragma once

#include "cli/command.hpp"
#include "demo/tour.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace zeus::cli {

class DemoCommand final : public Command {
 public:
  explicit DemoCommand(demo::MakeGpu make_gpu) : make_gpu_{std::move(make_gpu)} {}

  [[nodiscard]] std::string name() const override { return "demo"; }
  [[nodiscard]] std::string summary() const override { return "Show a recurring job become cheaper, on a virtual GPU"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  [[nodiscard]] demo::TourOptions options() const;

  demo::MakeGpu make_gpu_;
  bool quick_ = false;
  bool quiet_ = false;
  bool steady_ = false;
  std::uint64_t seed_ = 0;
  std::optional<int> default_batch_size_;
  double eta_ = 0.5;
  std::string html_;
  std::optional<std::string> json_;
};

}  // namespace zeus::cli
