// What tokens may allow, for zeusd and `zeus serve` alike, so that one token can serve both. Constants; any thread.
#pragma once

#include <zeus/fields.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace zeus::protocol {

enum class Scope {
  gpu_control,  // zeusd's
  gpu_read,
  cpu_read,
  jobs_read,   // the service's
  jobs_write,  // define jobs, run recurrences and report on one's own
  jobs_admin,  // forget, import, others' recurrences
  nodes_read,
  pipelines,
  metrics,
};

constexpr auto names_of(Scope /*scope*/) {
  return std::array<field::Name<Scope>, 9>{{{Scope::gpu_control, "gpu-control"},
                                            {Scope::gpu_read, "gpu-read"},
                                            {Scope::cpu_read, "cpu-read"},
                                            {Scope::jobs_read, "jobs-read"},
                                            {Scope::jobs_write, "jobs-write"},
                                            {Scope::jobs_admin, "jobs-admin"},
                                            {Scope::nodes_read, "nodes-read"},
                                            {Scope::pipelines, "pipelines"},
                                            {Scope::metrics, "metrics"}}};
}

// Their names, as tokens have them.
inline std::vector<std::string_view> scope_names() {
  std::vector<std::string_view> names;
  for (const auto& scope : names_of(Scope{})) {
    names.push_back(scope.name);
  }
  return names;
}

}  // namespace zeus::protocol
