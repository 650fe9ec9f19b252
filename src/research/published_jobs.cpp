#include "research/published_jobs.hpp"

#include <algorithm>
#include <set>

namespace zeus::research {

const std::vector<simulate::JobSelection>& published_jobs() {
  static const std::vector<simulate::JobSelection> jobs = {
      {"librispeech", "deepspeech2", "adamw", 40.0, 16, 192},
      {"squad", "bert_base_uncased", "adamw", 84.0, 6, 32},
      {"sentiment140", "bert_base_uncased", "adamw", 0.84, 10, 128},
      {"imagenet", "resnet50", "adadelta", 0.65, 100, 256},
      {"cifar100", "shufflenetv2", "adadelta", 0.6, 100, 1024},
      {"movielens-1m", "ncf", "adam", 0.41, 100, 1024},
  };
  return jobs;
}

simulate::Workload select_published(const trace::TrainTrace& train, const trace::PowerTrace& power,
                                    simulate::JobSelection job) {
  const auto is_mine = [&job](const auto& row) {
    return row.dataset == job.dataset && row.network == job.network && row.optimizer == job.optimizer;
  };
  std::set<int> trained;
  for (const trace::TrainRun& run : train.runs) {
    if (is_mine(run) && run.target_metric == job.target_metric) {
      trained.insert(run.batch_size);
    }
  }
  std::set<int> both;
  for (const trace::PowerRow& row : power.rows) {
    if (is_mine(row) && trained.contains(row.batch_size)) {
      both.insert(row.batch_size);
    }
  }
  if (!both.empty() && !both.contains(job.default_batch_size)) {
    job.default_batch_size = *both.rbegin();
  }
  return simulate::select_workload(train, power, job);
}

}  // namespace zeus::research
