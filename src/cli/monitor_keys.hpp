// The keys of `zeus monitor`. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace zeus::cli {

enum class MonitorKey { quit, up, down, page_up, page_down, top, bottom };

// The keys that were typed: q; arrows and j, k; page keys, space, b; Home, End, g, G. All others are ignored.
std::vector<MonitorKey> keys_in(std::string_view typed);

// The first row to show after a key, where `shown` of `rows` fit.
std::size_t scrolled(std::size_t first, MonitorKey key, std::size_t rows, std::size_t shown);

}  // namespace zeus::cli
