// The JSON of jobs' parts, for the files of this module that put it together. Pure functions; any thread.
#pragma once

#include "records/job_definition.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::records {

nlohmann::ordered_json json_of(const std::optional<double>& value);
nlohmann::ordered_json json_of(const JobDevice& device);
nlohmann::ordered_json json_of(const JobDefinition& definition);

// What is not such an object is a corrupt_data Error.
JobDevice job_device_of(const nlohmann::json& json);
JobDefinition job_definition_of(const nlohmann::json& json);

std::string one_line(const nlohmann::ordered_json& json);
// `what` is what the text should be, for messages.
nlohmann::json parsed(std::string_view text, std::string_view what);

}  // namespace zeus::records
