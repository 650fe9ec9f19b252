// What nearly every file includes, compiled once per build. Files still include what they use: each header is compiled
// alone, without this, by tools/check_headers.py.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
