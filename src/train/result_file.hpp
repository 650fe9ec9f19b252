// The file with the result of a training (docs/train.md describes its form): one JSON object, replaced as a whole. Any
// thread.
#pragma once

#include <zeus/training_report.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace zeus::train {

std::string_view to_string(StopReason reason);
std::string to_json(const TrainingResult& result);
// Throws an Error that names the file if it cannot be written.
void write_result(const std::filesystem::path& file, const TrainingResult& result);

}  // namespace zeus::train
