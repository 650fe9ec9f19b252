// Any output of a command: the draft that `zeus init` makes of it is a job file whose expressions compile.
#include "run/job_draft.hpp"
#include "run/job_file.hpp"
#include "run/output_study.hpp"
#include "run/progress_patterns.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int fuzz_output_study(const std::uint8_t* data, std::size_t size) {
  zeus::run::OutputStudy study;
  study.hear(0, {reinterpret_cast<const char*>(data), size});
  study.finish();
  const zeus::run::JobSettings job = zeus::run::job_from_toml(
      zeus::run::job_draft({.command = {"train"}, .name = "job", .time = {}, .proposal = study.propose()}), "job.toml");
  const zeus::run::ProgressPatterns patterns{{.metric = job.metric_regex.value_or(""),
                                              .epoch = job.epoch_regex.value_or(""),
                                              .step = job.step_regex.value_or("")}};
  return 0;
}
