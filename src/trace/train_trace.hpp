// Training traces: how many epochs runs of a configuration took to their target
// (`dataset,network,batch_size,optimizer,learning_rate,run,target_metric,target_epoch`). Plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::trace {

struct TrainRun {
  std::string dataset;
  std::string network;
  std::string optimizer;
  int batch_size = 0;
  double target_metric = 0.0;
  std::optional<int> target_epoch;  // nothing if the run never reached the target
};

struct TrainTrace {
  std::string name;  // of the file, for errors
  std::vector<TrainRun> runs;
};

// Reads a training trace; `name` is what errors call the file, and each error names file and line. An empty
// `target_epoch`, or `nan`, stands for a run that never reached its target.
TrainTrace parse_train_trace(std::string name, std::string_view text);

}  // namespace zeus::trace
