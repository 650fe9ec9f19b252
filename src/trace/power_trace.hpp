// Power traces: time and power of an epoch under each power limit of one GPU model
// (`dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power`; W, s, W). Plain values.
#pragma once

#include "records/limit_profile.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::trace {

struct PowerRow {
  std::string dataset;
  std::string network;
  std::string optimizer;
  int batch_size = 0;
  records::LimitProfile profile;
  std::size_t line = 0;  // of the file, for errors
};

struct PowerTrace {
  std::string name;  // of the file, for errors
  std::vector<PowerRow> rows;
  Watts max_power;  // the largest limit of all rows; 0 if there are none
};

// Reads a power trace; errors name file and line.
PowerTrace parse_power_trace(std::string name, std::string_view text);

}  // namespace zeus::trace
