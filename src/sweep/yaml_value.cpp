#include "sweep/yaml_value.hpp"

#include "base/printable.hpp"

#include <fmt/format.h>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace zeus::sweep {

namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::size_t deepest = 8;

// Other characters could not be written back, or would not be seen.
bool is_text(std::string text) {
  std::erase_if(text, [](char letter) { return letter == '\t' || letter == '\n'; });
  return printable(text) == text;
}

[[noreturn]] void refuse_strange(const std::string& name, std::size_t line) {
  throw yaml_error(name, line, "it has a byte that is not UTF-8, or a control character", "correct the line");
}

void expect_text(const std::string& name, std::string_view text) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool crlf = end > 0 && text[end - 1] == '\r';
    if (!is_text(std::string{text.substr(0, end - (crlf ? 1 : 0))})) {
      refuse_strange(name, line);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Builds the tree from the parser's events. It refuses what the parser would resolve, so the tree is never larger than
// the file.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& name) : name_{name} {}

  [[nodiscard]] YamlValue take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({.kind = YamlValue::Kind::nothing, .line = line_of(mark)}, "", anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { refuse_anchor(line_of(mark)); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (!is_text(value)) {  // by an escape
      refuse_strange(name_, line_of(mark));
    }
    add({.kind = YamlValue::Kind::scalar, .line = line_of(mark), .scalar = value}, tag, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open({.kind = YamlValue::Kind::list, .line = line_of(mark)}, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open({.kind = YamlValue::Kind::map, .line = line_of(mark)}, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  static std::size_t line_of(const YAML::Mark& mark) { return static_cast<std::size_t>(std::max(mark.line, 0)) + 1; }

  [[noreturn]] void refuse_anchor(std::size_t line) const {
    throw yaml_error(name_, line, "anchors and aliases are not read here", "write the value out");
  }

  void check(std::size_t line, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) {
      refuse_anchor(line);
    }
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw yaml_error(name_, line, fmt::format("the tag {} is not read here", in_quotes(tag)), "leave the tag out");
    }
  }

  void open(YamlValue value, const std::string& tag, YAML::anchor_t anchor) {
    check(value.line, tag, anchor);
    if (open_.size() >= deepest) {
      throw yaml_error(name_, value.line, "lists and mappings are nested too deeply",
                       "a value is a word, a number or a list of those");
    }
    open_.push_back({.value = std::move(value)});
  }

  void close() {
    YamlValue value = std::move(open_.back().value);
    open_.pop_back();
    place(std::move(value));
  }

  void add(YamlValue value, const std::string& tag, YAML::anchor_t anchor) {
    check(value.line, tag, anchor);
    place(std::move(value));
  }

  void place(YamlValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& around = open_.back();
    if (around.value.kind == YamlValue::Kind::map && !around.has_key) {
      add_key(around, value);
      return;
    }
    around.value.members.push_back(std::move(value));
    around.has_key = false;
  }

  struct Open {
    YamlValue value = {};
    bool has_key = false;  // of a map: the next value belongs to its last key
  };

  void add_key(Open& around, const YamlValue& key) const {
    if (key.kind != YamlValue::Kind::scalar) {
      throw yaml_error(name_, key.line, "a key is not a word",
                       "put a command that begins with {{ or [ in quotes, and give each key a name");
    }
    if (std::ranges::find(around.value.keys, key.scalar) != around.value.keys.end()) {
      throw yaml_error(name_, key.line, fmt::format("the key {} occurs twice", in_quotes(key.scalar)),
                       "give its values in one list");
    }
    around.value.keys.push_back(key.scalar);
    around.has_key = true;
  }

  const std::string& name_;
  YamlValue root_;
  std::vector<Open> open_;
};

void emit(YAML::Emitter& emitter, const YamlValue& value) {
  switch (value.kind) {
    case YamlValue::Kind::nothing:
      emitter << YAML::Null;
      break;
    case YamlValue::Kind::scalar:
      emitter << value.scalar;
      break;
    case YamlValue::Kind::list:
      emitter << YAML::BeginSeq;
      for (const YamlValue& member : value.members) {
        emit(emitter, member);
      }
      emitter << YAML::EndSeq;
      break;
    case YamlValue::Kind::map:
      emitter << YAML::BeginMap;
      for (std::size_t i = 0; i < value.keys.size(); ++i) {
        emitter << YAML::Key << value.keys[i] << YAML::Value;
        emit(emitter, value.members[i]);
      }
      emitter << YAML::EndMap;
      break;
  }
}

}  // namespace

Error yaml_error(const std::string& name, std::size_t line, const std::string& what, const std::string& advice) {
  return Error{ErrorKind::corrupt_data, fmt::format("{}:{}: {}", name, line, what), advice};
}

YamlValue parse_yaml(const std::string& name, const std::string& text) {
  if (text.size() > most_bytes) {
    throw Error{ErrorKind::corrupt_data, fmt::format("{} has more than 16 MiB", name), "split it"};
  }
  expect_text(name, text);
  TreeBuilder builder{name};
  std::istringstream stream{text};
  std::string why;
  std::size_t line = 0;
  try {
    YAML::Parser parser{stream};
    if (!parser.HandleNextDocument(builder)) {
      return {};
    }
    YamlValue root = builder.take();
    if (TreeBuilder second{name}; parser.HandleNextDocument(second)) {
      throw yaml_error(name, root.line, "it has a second document", "a file holds one list, without '---' in it");
    }
    return root;
  } catch (const YAML::Exception& error) {
    why = error.msg;
    line = static_cast<std::size_t>(std::max(error.mark.line, 0)) + 1;
  }
  throw yaml_error(name, line, fmt::format("it is not YAML: {}", printable(why)),
                   "correct the line; a command with a colon and a blank, or with # or {{ in it, goes in quotes");
}

std::string to_yaml(const YamlValue& member) {
  YAML::Emitter emitter;
  emit(emitter, {.kind = YamlValue::Kind::list, .members = {member}});
  return std::string{emitter.c_str(), emitter.size()} + '\n';
}

}  // namespace zeus::sweep
