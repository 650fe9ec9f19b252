// Parameters that several operations share. Pure functions; any thread may call them.
#pragma once

#include "server/route.hpp"

#include <string_view>

namespace zeus::server {

// The most that a parameter `limit` may ask for.
inline constexpr double most_of_a_page = 1000;

Parameter job_parameter();
Parameter recurrence_parameter();
Parameter key_parameter();
Parameter whole_parameter(std::string_view name, double least, double most, std::string_view help);
Parameter word_parameter(std::string_view name, std::vector<std::string> words, std::string_view help);
Parameter text_parameter(std::string_view name, std::size_t longest, std::string_view help);

}  // namespace zeus::server
