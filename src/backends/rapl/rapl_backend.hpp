// CPU packages and their memory, read from the kernel's powercap tree (Intel's RAPL, which AMD's processors provide
// too). A back-end as described in device/backend.hpp. The root of the tree is injected, so a recorded tree works too.
#pragma once

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "device/backend.hpp"

namespace zeus::backends::rapl {

class RaplBackend final : public device::Backend {
 public:
  // `clock` must outlive the back-end and the packages that it returns.
  RaplBackend(FileTree tree, const Clock& clock) : tree_{std::move(tree)}, clock_{clock} {}

  [[nodiscard]] std::string_view name() const override { return "rapl"; }
  [[nodiscard]] device::Discovery discover() override;

 private:
  FileTree tree_;
  const Clock& clock_;
};

}  // namespace zeus::backends::rapl
