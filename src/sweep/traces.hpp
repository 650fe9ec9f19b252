// The runs of a ledger as traces in the published format, which `zeus simulate` reads: when each run reached the
// target, and the time and power of an epoch under each power limit. Pure functions; any thread.
#pragma once

#include "sweep/ledger.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace zeus::sweep {

// A column is the value of the parameter of this name where a run has one.
struct TraceColumns {
  std::string batch_size = "batch_size";  // the name of the parameter
  std::string dataset = "sweep";          // these: the value for runs without such a parameter
  std::string network = "sweep";
  std::string optimizer = "sweep";
  std::optional<double> target_metric = {};  // by default, the one of each entry
};

struct SweepTraces {
  std::string train;                         // the file's content
  std::map<std::string, std::string> power;  // by GPU model
  std::size_t runs = 0;                      // in them
  std::vector<std::string> left_out;         // "run 7 has no epochs"
};

// Without any run in them, `train` has its heading alone.
SweepTraces traces_of(const LedgerContent& ledger, const TraceColumns& columns);

}  // namespace zeus::sweep
