#include "train/result_file.hpp"

#include "base/file_tree.hpp"
#include "records/json_writer.hpp"

namespace zeus::train {

std::string_view to_string(StopReason reason) {
  return field::name_of(reason);
}

std::string to_json(const TrainingResult& result) {
  records::JsonWriter json{records::JsonWriter::Layout::indented};
  json.object([&] {
    json.put("format", "zeus training result");
    json.put("version", 1);
    json.put("reached", result.reached());
    json.put_fields(result);
  });
  return json.take() + "\n";
}

void write_result(const std::filesystem::path& file, const TrainingResult& result) {
  const std::filesystem::path whole = std::filesystem::absolute(file);
  FileTree{whole.parent_path()}.write_durably(whole.filename().string(), to_json(result));
}

}  // namespace zeus::train
