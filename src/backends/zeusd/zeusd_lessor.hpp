// Leases of a node's GPUs from its daemon. As in control/lessor.hpp. If a daemon gives no leases (releases that are not
// ours), take() says so.
#pragma once

#include "backends/zeusd/daemon_link.hpp"
#include "control/lessor.hpp"

#include <memory>

namespace zeus::backends::zeusd {

class ZeusdLessor final : public control::Lessor {
 public:
  // Offers the GPUs that the link has discovered. As long as the daemon has not answered at all, it offers every GPU to
  // a process that may not set any itself; then take() asks the daemon, and is a LessorAway of kind timeout while that
  // does not answer.
  explicit ZeusdLessor(std::shared_ptr<DaemonLink> link);

  [[nodiscard]] bool offers(std::string_view uuid) const override;
  [[nodiscard]] std::vector<device::WattRange> allowed_power_limits(std::string_view uuid) const override;
  [[nodiscard]] std::unique_ptr<control::LeaseBacking> take(const device::DiscoveredGpu& gpu, Seconds term,
                                                            control::Lends lends,
                                                            control::LessorPatience patience) override;
  [[nodiscard]] bool has_one(std::string_view uuid) override;
  [[nodiscard]] std::map<std::string, control::LeaseClient, std::less<>> clients() override;
  [[nodiscard]] control::LessorReport report() override;

 private:
  void meet();
  void report_readings(control::LessorReport& report);
  void report_leases(control::LessorReport& report);

  std::shared_ptr<DaemonLink> link_;
};

}  // namespace zeus::backends::zeusd
