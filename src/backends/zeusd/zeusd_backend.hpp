// The GPUs and CPU packages of a node, as its daemon reports them. As in device/backend.hpp. A daemon that does not
// answer is a problem in the list, after two seconds at most.
#pragma once

#include "backends/zeusd/daemon_link.hpp"
#include "device/backend.hpp"

#include <memory>

namespace zeus::backends::zeusd {

class ZeusdBackend final : public device::Backend {
 public:
  explicit ZeusdBackend(std::shared_ptr<DaemonLink> link);

  [[nodiscard]] std::string_view name() const override { return "zeusd"; }
  [[nodiscard]] device::Discovery discover() override;

 private:
  [[nodiscard]] device::Discovery ask();

  std::shared_ptr<DaemonLink> link_;
  bool warned_ = false;
};

}  // namespace zeus::backends::zeusd
